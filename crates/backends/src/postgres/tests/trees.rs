//! Concurrent trees of turns, operations and cancels, from several processes.

use std::time::Duration;

use futures::future::join_all;
use ports::leases::JobClaimed;
use ports::store::{
    NewOperation, NewSession, NewTurn, OperationBegun, OperationKey, ParentTurn, TurnOpened,
};
use ports::{Fenced, Leases, Operations, Ports, Sessions, Turns};
use protocol::limits::UserLimits;
use protocol::message::{MessageRole, NewMessage, ToolCall, ToolOutcome};
use protocol::operation::OperationResult;
use protocol::session::Owner;
use protocol::turn::{TurnClaim, TurnRequest, TurnStatus};
use protocol::{OperationId, SessionId, TurnId, WorkerId};
use testkit::conformance::scene;

use super::database::Database;
use super::fixture::ports;
use crate::postgres::PostgresStore;

const CAPS: UserLimits = UserLimits { running: 2, in_flight: 1_000, executions: 25 };

/// Time limit of every wait in this test.
const BOUND: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trees_that_run_and_are_cancelled_concurrently_end_without_a_deadlock() {
    let database = Database::create().await;
    let stores = [database.connect_with(CAPS).await, database.connect_with(CAPS).await];
    let folder = tempfile::tempdir().expect("a folder");
    let ports = [
        ports(stores[0].clone(), folder.path()).await,
        ports(stores[1].clone(), folder.path()).await,
    ];
    let owners = [scene::user("ann"), Owner::Anonymous];
    let trees = (0..16).map(|n| {
        let (life, ports) = (&stores[n % 2], &ports[n % 2]);
        let life = Life { store: life, other: &stores[(n + 1) % 2], ports, owner: &owners[n % 2] };
        async move { life.grow(n).await }
    });
    tokio::time::timeout(BOUND, join_all(trees)).await.expect("no deadlock");
    let open = database.sql(
        "SELECT (SELECT count(*) FROM turn WHERE status IN ('queued', 'running'))
             + (SELECT count(*) FROM operation WHERE outcome IS NULL)",
    );
    assert_eq!(open.await[0].get::<_, i64>(0), 0);
}

struct Life<'a> {
    store: &'a PostgresStore,
    other: &'a PostgresStore,
    ports: &'a Ports,
    owner: &'a Owner,
}

impl Life<'_> {
    /// Runs a turn with an operation and three sub-turns, cancelled half-way by another process or run to its end.
    async fn grow(&self, n: usize) {
        let session = self.session().await;
        let top = self.open(scene::submission(&session, "do it", None)).await.expect("a turn");
        let Some(claim) = self.claim(&top).await else { panic!("no other caller ends it") };
        let begun = self.store.begin(&claim, operation(n)).await.expect("begin");
        let Fenced::Done(OperationBegun::New { operation, .. }) = begun else {
            panic!("{begun:?}")
        };
        self.store.step_aside(&claim).await.expect("step aside");
        let children = join_all((0..3).map(|_| self.child(&top))).await;
        let cancelling = async {
            if n.is_multiple_of(3) {
                self.other.request_cancel(self.owner, &session).await.expect("cancel");
            }
        };
        let operating = async {
            let turn = operation.task_id.turn();
            let accepted = self.claim(&turn).await.expect("it is open");
            self.store.accepted(&accepted, scene::LONG).await.expect("accepted");
            let which = OperationKey::Operation(operation.id.clone());
            let result = OperationResult { output: "built".into(), outcome: ToolOutcome::Ok };
            join_all((0..4).map(|_| self.other.complete(&which, result.clone()))).await;
            self.finish_operation(&turn).await;
        };
        let working = join_all(children.iter().flatten().map(|turn| self.work(turn)));
        let going_on = async {
            let back = async || self.store.step_back(&claim).await.expect("step back");
            while back().await == Fenced::Done(false) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            self.end(&claim).await;
        };
        tokio::join!(cancelling, operating, working, going_on);
    }

    async fn session(&self) -> SessionId {
        self.store.create(self.owner, NewSession::default()).await.expect("create").id
    }

    async fn open(&self, new: NewTurn) -> Option<TurnId> {
        match self.store.open(self.owner, new).await.expect("open") {
            TurnOpened::New(turn) => Some(turn.id),
            TurnOpened::ParentEnded => None,
            other => panic!("{other:?}"),
        }
    }

    async fn child(&self, parent: &TurnId) -> Option<TurnId> {
        let session = self.session().await;
        let parent = Some(ParentTurn { turn: parent.clone(), fan_out: 10 });
        self.open(NewTurn { parent, ..scene::submission(&session, "a part", None) }).await
    }

    async fn work(&self, turn: &TurnId) {
        let claim = self.claim(turn).await.expect("it is open");
        self.store.step_aside(&claim).await.expect("step aside");
        self.end(&claim).await;
    }

    /// Lines up, retrying until it can, and ends.
    async fn finish_operation(&self, turn: &TurnId) {
        loop {
            let claim = self.claim(turn).await.expect("it is open");
            if self.store.line_up(&claim).await.expect("line up") == Fenced::Done(true) {
                return self.end(&claim).await;
            }
        }
    }

    async fn end(&self, claim: &TurnClaim) {
        let ending = scene::ending(TurnStatus::Cancelled, 0, Vec::new());
        let ended = self.ports.turns.finish(claim, ending).await.expect("finish");
        assert!(matches!(ended, Fenced::Done(_)), "{ended:?}");
    }

    /// Claims the turn as soon as it has its permit. `None` when it has ended.
    async fn claim(&self, turn: &TurnId) -> Option<TurnClaim> {
        loop {
            match self
                .store
                .claim(&turn.into(), &WorkerId::fresh(), scene::LONG)
                .await
                .expect("claim")
            {
                JobClaimed::Turn(granted) => return Some(granted.claim),
                JobClaimed::Ended => return None,
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }
}

fn operation(n: usize) -> NewOperation {
    let mut pending = NewMessage::new(MessageRole::Tool, "pending");
    pending.tool_call_id = Some(format!("call-{n}").into());
    NewOperation {
        id: OperationId::fresh(),
        turn_id: TurnId::fresh(),
        call: ToolCall {
            id: format!("call-{n}").into(),
            name: "build".into(),
            arguments: "{}".into(),
        },
        pending,
        request: TurnRequest::default(),
        push_grace: Duration::ZERO,
    }
}
