//! `Operations` of a node.

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{NewOperation, OperationBegun, OperationCompleted, OperationKey};
use ports::{Fenced, Operations, PortResult};
use protocol::operation::{Operation, OperationResult};
use protocol::session::Owner;
use protocol::turn::TurnClaim;

use super::backend::BackendState;
use super::node::SimNode;
use super::store::{describe, fenced_call, fenced_effect, omit_result, store_call};

#[async_trait]
impl Operations for SimNode {
    async fn begin(
        &self,
        claim: &TurnClaim,
        new: NewOperation,
    ) -> PortResult<Fenced<OperationBegun>> {
        let (claim, sim) = (claim.clone(), self.sim.clone());
        let about = format!("{} {} as {}", claim.turn_id, claim.fence, new.turn_id);
        let call = store_call("begins an operation for", about);
        let begin = move |backend: &mut BackendState| {
            let under = (&claim.turn_id, claim.fence);
            sim.checked_fenced_write(
                backend,
                under,
                |backend| backend.begin(&claim, &new),
                fenced_effect,
            )
        };
        let describe = |begun: &Fenced<OperationBegun>| match begun {
            Fenced::Done(OperationBegun::New { due, .. }) => format!("new, due {due}"),
            Fenced::Done(OperationBegun::Exists(_)) => "exists".to_owned(),
            Fenced::Done(OperationBegun::TooMany) => "too many".to_owned(),
            Fenced::Stale => "stale".to_owned(),
        };
        self.call(call, begin, describe).await
    }

    async fn get(&self, owner: &Owner, which: &OperationKey) -> PortResult<Option<Operation>> {
        let (owner, which) = (owner.clone(), which.clone());
        let get = move |backend: &mut BackendState| Ok(backend.operation(&owner, &which));
        self.call(store_call("gets", "an operation"), get, omit_result).await
    }

    async fn find(&self, which: &OperationKey) -> PortResult<Option<(Owner, Operation)>> {
        let which = which.clone();
        let find = move |backend: &mut BackendState| Ok(backend.operation_with_owner(&which));
        self.call(store_call("finds", "an operation"), find, omit_result).await
    }

    async fn accepted(&self, claim: &TurnClaim, at_most: Duration) -> PortResult<Fenced<()>> {
        let (call, claim, sim) =
            (fenced_call("marks accepted", claim), claim.clone(), self.sim.clone());
        let rest = move |backend: &mut BackendState| {
            let under = (&claim.turn_id, claim.fence);
            sim.checked_fenced_write(
                backend,
                under,
                |backend| backend.accepted(&claim, at_most),
                fenced_effect,
            )
        };
        self.call(call, rest, describe).await
    }

    async fn complete(
        &self,
        which: &OperationKey,
        result: OperationResult,
    ) -> PortResult<OperationCompleted> {
        let which = which.clone();
        let complete = move |backend: &mut BackendState| Ok(backend.complete(&which, &result));
        self.call(store_call("completes", "an operation"), complete, describe).await
    }

    async fn line_up(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        let (call, claim, sim) = (fenced_call("lines up", claim), claim.clone(), self.sim.clone());
        let line_up = move |backend: &mut BackendState| {
            let under = (&claim.turn_id, claim.fence);
            sim.checked_fenced_write(
                backend,
                under,
                |backend| backend.line_up(&claim),
                fenced_effect,
            )
        };
        self.call(call, line_up, describe).await
    }
}
