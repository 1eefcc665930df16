//! Follow-ups as one process reaches them.

use async_trait::async_trait;
use ports::store::{FollowUpPushed, NewFollowUp};
use ports::{Fenced, FollowUps, PortResult};
use protocol::SessionId;
use protocol::follow_up::FollowUp;
use protocol::session::Owner;
use protocol::turn::TurnClaim;

use super::node::Node;
use super::store::{fenced, quiet, store, wrote};
use super::world::State;

#[async_trait]
impl FollowUps for Node {
    async fn push(
        &self,
        owner: &Owner,
        session: &SessionId,
        new: NewFollowUp,
    ) -> PortResult<FollowUpPushed> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store("sends a follow-up to", &session);
        let push = move |world: &mut State| Ok(world.push_follow_up(&owner, &session, &new));
        let told = |pushed: &FollowUpPushed| match pushed {
            FollowUpPushed::Waits { follow_up, .. } => {
                format!("it waits for {}", follow_up.turn_id)
            }
            FollowUpPushed::Known(follow_up) => follow_up.state.as_str().to_owned(),
            other => format!("{other:?}"),
        };
        self.call(call, push, told).await
    }

    async fn list(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
    ) -> PortResult<Option<Vec<FollowUp>>> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store("lists follow-ups of", &session);
        let list = move |world: &mut State| Ok(world.list_follow_ups(&owner, &session, limit));
        self.call(call, list, quiet).await
    }

    async fn drain(&self, claim: &TurnClaim, step: u32) -> PortResult<Fenced<Vec<FollowUp>>> {
        let (call, claim, sim) = (fenced("drains", claim), claim.clone(), self.sim.clone());
        let drain = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| Ok(world.drain(&claim, step)), wrote)
        };
        let told = |drained: &Fenced<Vec<FollowUp>>| match drained {
            Fenced::Done(drained) => format!("{} follow-ups", drained.len()),
            Fenced::Stale => "stale".to_owned(),
        };
        self.call(call, drain, told).await
    }
}
