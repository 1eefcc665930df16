//! Shared setup for the laws of operations: a turn that has started one.

use std::time::Duration;

use ports::store::{JournalEntry, NewOperation, OperationBegun, OperationCompleted, OperationKey};
use ports::{Fenced, Ports};
use protocol::message::{ToolCall, ToolOutcome};
use protocol::operation::{Operation, OperationResult};
use protocol::session::{Owner, Session};
use protocol::turn::{TurnClaim, TurnRequest};
use protocol::{OperationId, TurnId};

use crate::conformance::scene::*;

/// An operation and the turn that started it.
pub(crate) struct AskedOperation {
    pub(crate) ann: Owner,
    pub(crate) mine: Session,
    /// Claim of the turn that started the operation.
    pub(crate) claim: TurnClaim,
    pub(crate) operation: Operation,
    /// The turn that runs the operation.
    pub(crate) turn: TurnId,
}

pub(crate) fn new(call: &str) -> NewOperation {
    let mut pending = result(call);
    pending.content = format!("{call} is pending");
    NewOperation {
        id: OperationId::fresh(),
        turn_id: TurnId::fresh(),
        call: ToolCall { id: call.into(), name: "build".into(), arguments: r#"{"n":1}"#.into() },
        pending,
        request: TurnRequest::default(),
        push_grace: Duration::ZERO,
    }
}

pub(crate) async fn begin(ports: &Ports, claim: &TurnClaim, new: NewOperation) -> OperationBegun {
    match ports.operations.begin(claim, new).await.expect("begin") {
        Fenced::Done(begun) => begun,
        Fenced::Stale => panic!("the claim is current"),
    }
}

pub(crate) async fn asked(ports: &Ports) -> AskedOperation {
    let (ann, mine, asking) = first_turn(ports).await;
    let claim = claim(ports, &asking.id).await;
    record(ports, &claim, vec![JournalEntry::Message(calls(&["a"]))]).await;
    let begun = begin(ports, &claim, new("a")).await;
    let OperationBegun::New { operation, due: true } = begun else { panic!("{begun:?}") };
    let turn = operation.task_id.turn();
    AskedOperation { ann, mine, claim, operation: *operation, turn }
}

pub(crate) fn done(output: &str) -> OperationResult {
    OperationResult { output: output.into(), outcome: ToolOutcome::Ok }
}

impl AskedOperation {
    pub(crate) fn which(&self) -> OperationKey {
        OperationKey::Operation(self.operation.id.clone())
    }

    pub(crate) async fn now(&self, ports: &Ports) -> Operation {
        ports.operations.get(&self.ann, &self.which()).await.expect("get").expect("it exists")
    }

    /// Claims the operation's turn and marks the operation as accepted by an external service.
    pub(crate) async fn accepted(&self, ports: &Ports, at_most: Duration) {
        let claim = claim(ports, &self.turn).await;
        let accepted = ports.operations.accepted(&claim, at_most).await.expect("accepted");
        assert_eq!(accepted, Fenced::Done(()));
        let again = ports.operations.accepted(&claim, at_most).await.expect("accepted");
        assert_eq!(again, Fenced::Stale, "the claim was released");
    }

    pub(crate) async fn complete(&self, ports: &Ports, output: &str) -> OperationCompleted {
        ports.operations.complete(&self.which(), done(output)).await.expect("complete")
    }

    pub(crate) fn completed(&self, due: bool) -> OperationCompleted {
        OperationCompleted::Done { task_id: self.operation.task_id.clone(), due }
    }

    pub(crate) fn before(&self) -> OperationCompleted {
        OperationCompleted::Before { task_id: self.operation.task_id.clone() }
    }

    /// The result of the call in the history.
    pub(crate) async fn row(&self, ports: &Ports) -> (String, Option<ToolOutcome>) {
        let rows = history(ports, &self.ann, &self.mine.id).await;
        let row =
            rows.iter().find(|row| row.tool_call_id.as_ref() == Some(&self.operation.call.id));
        row.map(|row| (row.content.clone(), row.outcome)).expect("the call has a result row")
    }
}

pub(crate) async fn line_up(ports: &Ports, claim: &TurnClaim) -> bool {
    match ports.operations.line_up(claim).await.expect("line up") {
        Fenced::Done(now) => now,
        Fenced::Stale => panic!("the claim is current"),
    }
}
