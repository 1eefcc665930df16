//! `FollowUps` of a node.

use async_trait::async_trait;
use ports::store::{FollowUpPushed, NewFollowUp};
use ports::{Fenced, FollowUps, PortResult};
use protocol::SessionId;
use protocol::follow_up::FollowUp;
use protocol::session::Owner;
use protocol::turn::TurnClaim;

use super::backend::BackendState;
use super::node::SimNode;
use super::store::{fenced_call, fenced_effect, omit_result, store_call};

#[async_trait]
impl FollowUps for SimNode {
    async fn push(
        &self,
        owner: &Owner,
        session: &SessionId,
        new: NewFollowUp,
    ) -> PortResult<FollowUpPushed> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store_call("sends a follow-up to", &session);
        let push =
            move |backend: &mut BackendState| Ok(backend.push_follow_up(&owner, &session, &new));
        let describe = |pushed: &FollowUpPushed| match pushed {
            FollowUpPushed::Waits { follow_up, .. } => {
                format!("it waits for {}", follow_up.turn_id)
            }
            FollowUpPushed::Known(follow_up) => follow_up.state.as_str().to_owned(),
            other => format!("{other:?}"),
        };
        self.call(call, push, describe).await
    }

    async fn list(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
    ) -> PortResult<Option<Vec<FollowUp>>> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store_call("lists follow-ups of", &session);
        let list =
            move |backend: &mut BackendState| Ok(backend.list_follow_ups(&owner, &session, limit));
        self.call(call, list, omit_result).await
    }

    async fn drain(&self, claim: &TurnClaim, step: u32) -> PortResult<Fenced<Vec<FollowUp>>> {
        let (call, claim, sim) = (fenced_call("drains", claim), claim.clone(), self.sim.clone());
        let drain = move |backend: &mut BackendState| {
            let under = (&claim.turn_id, claim.fence);
            sim.checked_fenced_write(
                backend,
                under,
                |backend| Ok(backend.drain(&claim, step)),
                fenced_effect,
            )
        };
        let describe = |drained: &Fenced<Vec<FollowUp>>| match drained {
            Fenced::Done(drained) => format!("{} follow-ups", drained.len()),
            Fenced::Stale => "stale".to_owned(),
        };
        self.call(call, drain, describe).await
    }
}
