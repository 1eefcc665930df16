//! Sessions, messages and turns of a node.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::store::{
    JournalRecord, ListSessions, MessagePage, NewSession, NewTurn, OpenTurns, SessionAssigned,
    SessionPage, TitleChange, TurnEnding, TurnFinished, TurnOpened, TurnProgress,
};
use ports::{Fenced, Messages, PortResult, Ports, ServicePorts, Sessions, Store, Turns};
use protocol::session::{Owner, Session};
use protocol::turn::{Turn, TurnClaim};
use protocol::{SessionId, TurnId, UserId};

use super::backend::BackendState;
use super::fault_schedule::SimService;
use super::fence_check::WriteEffect;
use super::node::{PortCall, SimNode};

/// All ports of one node.
pub(crate) fn ports(node: &Arc<SimNode>) -> Ports {
    Ports::new(
        node.clone(),
        ServicePorts {
            completions: node.clone(),
            queue: node.clone(),
            log: node.clone(),
            bus: node.clone(),
            files: node.clone(),
            health: node.clone(),
            clock: node.clone(),
        },
    )
}

impl Store for SimNode {}

impl SimNode {
    pub fn ports(self: &Arc<Self>) -> Ports {
        ports(self)
    }
}

/// Leaves a result out of the trace.
pub(crate) fn omit_result<T>(_: &T) -> String {
    String::new()
}

pub(crate) fn describe<T: std::fmt::Debug>(answer: &T) -> String {
    format!("{answer:?}")
}

pub(crate) fn fenced_effect<T>(written: &PortResult<Fenced<T>>) -> WriteEffect {
    match written {
        Ok(Fenced::Done(_)) => WriteEffect::Changed,
        Ok(Fenced::Stale) | Err(_) => WriteEffect::Unchanged,
    }
}

pub(crate) fn store_call(name: &'static str, about: impl ToString) -> PortCall {
    PortCall::new(SimService::Store, name, about)
}

pub(crate) fn fenced_call(name: &'static str, claim: &TurnClaim) -> PortCall {
    store_call(name, format_args!("{} {}", claim.turn_id, claim.fence))
}

#[async_trait]
impl Sessions for SimNode {
    async fn create(&self, owner: &Owner, new: NewSession) -> PortResult<Session> {
        let owner = owner.clone();
        let make = move |backend: &mut BackendState| backend.create_session(&owner, new);
        self.call(store_call("creates", "a session"), make, omit_result).await
    }

    async fn get(&self, owner: &Owner, id: &SessionId) -> PortResult<Option<Session>> {
        let (owner, id) = (owner.clone(), id.clone());
        let call = store_call("gets", &id);
        self.call(call, move |backend| Ok(backend.session(&owner, &id)), omit_result).await
    }

    async fn list(&self, owner: &Owner, wanted: ListSessions) -> PortResult<SessionPage> {
        let owner = owner.clone();
        let list = move |backend: &mut BackendState| Ok(backend.list_sessions(&owner, wanted));
        self.call(store_call("lists", "sessions"), list, omit_result).await
    }

    async fn set_title(
        &self,
        owner: &Owner,
        id: &SessionId,
        title: TitleChange,
    ) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        let call = store_call("names", &id);
        self.call(call, move |backend| Ok(backend.set_title(&owner, &id, title)), describe).await
    }

    async fn set_pinned(&self, owner: &Owner, id: &SessionId, pinned: bool) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        let call = store_call("pins", &id);
        self.call(call, move |backend| Ok(backend.set_pinned(&owner, &id, pinned)), describe).await
    }

    async fn assign(&self, user: &UserId, id: &SessionId) -> PortResult<SessionAssigned> {
        let (user, id) = (user.clone(), id.clone());
        let call = store_call("assigns", &id);
        self.call(call, move |backend| Ok(backend.assign(&user, &id)), describe).await
    }

    async fn delete(&self, owner: &Owner, id: &SessionId) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        let call = store_call("deletes", &id);
        self.call(call, move |backend| Ok(backend.delete_session(&owner, &id)), describe).await
    }
}

#[async_trait]
impl Messages for SimNode {
    async fn page(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
        before: Option<i64>,
    ) -> PortResult<Option<MessagePage>> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store_call("pages", &session);
        let page =
            move |backend: &mut BackendState| Ok(backend.page(&owner, &session, limit, before));
        self.call(call, page, omit_result).await
    }
}

#[async_trait]
impl Turns for SimNode {
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened> {
        let (owner, call) = (owner.clone(), store_call("opens a turn of", &new.session_id));
        let describe = |opened: &TurnOpened| match opened {
            TurnOpened::New(turn) => turn.id.to_string(),
            TurnOpened::Joined(turn) => format!("joined {}", turn.id),
            other => format!("{other:?}"),
        };
        self.call(call, move |backend| Ok(backend.open(&owner, &new)), describe).await
    }

    async fn get(&self, owner: &Owner, turn: &TurnId) -> PortResult<Option<Turn>> {
        let (owner, turn) = (owner.clone(), turn.clone());
        let call = store_call("gets", &turn);
        self.call(call, move |backend| Ok(backend.turn(&owner, &turn)), omit_result).await
    }

    async fn current(
        &self,
        owner: &Owner,
        session: &SessionId,
    ) -> PortResult<Option<(Turn, Option<Duration>)>> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store_call("gets the current turn of", &session);
        self.call(call, move |backend| Ok(backend.current(&owner, &session)), omit_result).await
    }

    async fn request_cancel(&self, owner: &Owner, session: &SessionId) -> PortResult<Vec<Turn>> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store_call("cancels", &session);
        self.call(call, move |backend| Ok(backend.request_cancel(&owner, &session)), omit_result)
            .await
    }

    async fn progress(&self, claim: &TurnClaim) -> PortResult<Fenced<TurnProgress>> {
        let (call, claim) = (fenced_call("asks for the progress of", claim), claim.clone());
        let describe = |progress: &Fenced<TurnProgress>| match progress {
            Fenced::Done(_) => String::new(),
            Fenced::Stale => "stale".to_owned(),
        };
        self.call(call, move |backend| Ok(backend.progress(&claim)), describe).await
    }

    async fn record(&self, claim: &TurnClaim, record: JournalRecord) -> PortResult<Fenced<()>> {
        let (call, claim, sim) = (fenced_call("journals", claim), claim.clone(), self.sim.clone());
        let write = move |backend: &mut BackendState| {
            let under = (&claim.turn_id, claim.fence);
            sim.checked_fenced_write(
                backend,
                under,
                |backend| backend.record(&claim, &record),
                fenced_effect,
            )
        };
        self.call(call, write, describe).await
    }

    async fn finish(
        &self,
        claim: &TurnClaim,
        ending: TurnEnding,
    ) -> PortResult<Fenced<TurnFinished>> {
        let (call, claim) = (fenced_call(ending.status.as_str(), claim), claim.clone());
        let (task, sim) = (claim.turn_id.task(), self.sim.clone());
        let end = move |backend: &mut BackendState| {
            let under = (&claim.turn_id, claim.fence);
            sim.checked_fenced_write(
                backend,
                under,
                |backend| backend.finish(&claim, &ending),
                fenced_effect,
            )
        };
        let ended = self.call(call, end, describe).await;
        self.hint_of_growth(&task);
        ended
    }

    async fn step_aside(&self, claim: &TurnClaim) -> PortResult<Fenced<Vec<TurnId>>> {
        let (call, claim, sim) =
            (fenced_call("steps aside", claim), claim.clone(), self.sim.clone());
        let step = move |backend: &mut BackendState| {
            let under = (&claim.turn_id, claim.fence);
            sim.checked_fenced_write(
                backend,
                under,
                |backend| Ok(backend.step_aside(&claim)),
                fenced_effect,
            )
        };
        self.call(call, step, describe).await
    }

    async fn step_back(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        let (call, claim, sim) =
            (fenced_call("steps back", claim), claim.clone(), self.sim.clone());
        let step = move |backend: &mut BackendState| {
            let under = (&claim.turn_id, claim.fence);
            sim.checked_fenced_write(
                backend,
                under,
                |backend| Ok(backend.step_back(&claim)),
                fenced_effect,
            )
        };
        self.call(call, step, describe).await
    }

    async fn count_open(&self) -> PortResult<OpenTurns> {
        self.call(store_call("counts", "turns"), |backend| Ok(backend.count_open()), omit_result)
            .await
    }
}
