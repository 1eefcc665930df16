//! Operations as one process reaches them.

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{NewOperation, OperationBegun, OperationCompleted, OperationKey};
use ports::{Fenced, Operations, PortResult};
use protocol::operation::{Operation, OperationResult};
use protocol::session::Owner;
use protocol::turn::TurnClaim;

use super::node::Node;
use super::store::{fenced, quiet, store, told, wrote};
use super::world::State;

#[async_trait]
impl Operations for Node {
    async fn begin(
        &self,
        claim: &TurnClaim,
        new: NewOperation,
    ) -> PortResult<Fenced<OperationBegun>> {
        let (claim, sim) = (claim.clone(), self.sim.clone());
        let about = format!("{} {} as {}", claim.turn_id, claim.fence, new.turn_id);
        let call = store("begins an operation for", about);
        let begin = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| world.begin(&claim, &new), wrote)
        };
        let told = |begun: &Fenced<OperationBegun>| match begun {
            Fenced::Done(OperationBegun::New { due, .. }) => format!("new, due {due}"),
            Fenced::Done(OperationBegun::Exists(_)) => "exists".to_owned(),
            Fenced::Done(OperationBegun::TooMany) => "too many".to_owned(),
            Fenced::Stale => "stale".to_owned(),
        };
        self.call(call, begin, told).await
    }

    async fn get(&self, owner: &Owner, which: &OperationKey) -> PortResult<Option<Operation>> {
        let (owner, which) = (owner.clone(), which.clone());
        let get = move |world: &mut State| Ok(world.operation(&owner, &which));
        self.call(store("gets", "an operation"), get, quiet).await
    }

    async fn accepted(&self, claim: &TurnClaim, at_most: Duration) -> PortResult<Fenced<()>> {
        let (call, claim, sim) = (fenced("lets rest", claim), claim.clone(), self.sim.clone());
        let rest = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| world.accepted(&claim, at_most), wrote)
        };
        self.call(call, rest, told).await
    }

    async fn complete(
        &self,
        which: &OperationKey,
        result: OperationResult,
    ) -> PortResult<OperationCompleted> {
        let which = which.clone();
        let complete = move |world: &mut State| Ok(world.complete(&which, &result));
        self.call(store("completes", "an operation"), complete, told).await
    }

    async fn line_up(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        let (call, claim, sim) = (fenced("lines up", claim), claim.clone(), self.sim.clone());
        let line_up = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| world.line_up(&claim), wrote)
        };
        self.call(call, line_up, told).await
    }
}
