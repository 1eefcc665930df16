//! The stores as one process reaches them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::leases::{LeaseRenewal, TurnClaimed};
use ports::store::{
    JournalRecord, ListSessions, MessagePage, NewSession, NewTurn, OpenTurns, SessionAssigned,
    SessionPage, TitleChange, TurnEnding, TurnFinished, TurnOpened, TurnProgress,
};
use ports::{Fenced, Leases, Messages, Outbox, PortResult, Ports, Sessions, Turns};
use protocol::session::{Owner, Session};
use protocol::turn::{Turn, TurnClaim};
use protocol::{SessionId, TurnId, UserId, WorkerId};

use super::absent::Absent;
use super::fences::Wrote;
use super::node::{Call, Node};
use super::weather::Service;
use super::world::State;

/// All of the backend, for one process.
pub(super) fn ports(node: &Arc<Node>) -> Ports {
    Ports {
        sessions: node.clone(),
        messages: node.clone(),
        turns: node.clone(),
        follow_ups: node.clone(),
        operations: node.clone(),
        completions: node.clone(),
        outbox: node.clone(),
        leases: node.clone(),
        queue: node.clone(),
        log: node.clone(),
        bus: node.clone(),
        files: Arc::new(Absent),
        api_keys: Arc::new(Absent),
        graphs: Arc::new(Absent),
        library: Arc::new(Absent),
        listings: Arc::new(Absent),
        executions: Arc::new(Absent),
        reviews: Arc::new(Absent),
        credits: Arc::new(Absent),
        block_runs: Arc::new(Absent),
        reports: Arc::new(Absent),
        values: Arc::new(Absent),
        health: Arc::new(Absent),
        clock: node.clone(),
    }
}

impl Node {
    pub fn ports(self: &Arc<Self>) -> Ports {
        ports(self)
    }
}

/// What is not worth telling.
pub(super) fn quiet<T>(_: &T) -> String {
    String::new()
}

pub(super) fn told<T: std::fmt::Debug>(answer: &T) -> String {
    format!("{answer:?}")
}

pub(super) fn wrote<T>(written: &PortResult<Fenced<T>>) -> Wrote {
    match written {
        Ok(Fenced::Done(_)) => Wrote::Something,
        Ok(Fenced::Stale) | Err(_) => Wrote::Nothing,
    }
}

pub(super) fn store(name: &'static str, about: impl ToString) -> Call {
    Call::new(Service::Store, name, about)
}

pub(super) fn fenced(name: &'static str, claim: &TurnClaim) -> Call {
    store(name, format_args!("{} {}", claim.turn_id, claim.fence))
}

#[async_trait]
impl Sessions for Node {
    async fn create(&self, owner: &Owner, new: NewSession) -> PortResult<Session> {
        let owner = owner.clone();
        let make = move |world: &mut State| world.create_session(&owner, new);
        self.call(store("creates", "a session"), make, quiet).await
    }

    async fn get(&self, owner: &Owner, id: &SessionId) -> PortResult<Option<Session>> {
        let (owner, id) = (owner.clone(), id.clone());
        let call = store("gets", &id);
        self.call(call, move |world| Ok(world.session(&owner, &id)), quiet).await
    }

    async fn list(&self, owner: &Owner, wanted: ListSessions) -> PortResult<SessionPage> {
        let owner = owner.clone();
        let list = move |world: &mut State| Ok(world.list_sessions(&owner, wanted));
        self.call(store("lists", "sessions"), list, quiet).await
    }

    async fn set_title(
        &self,
        owner: &Owner,
        id: &SessionId,
        title: TitleChange,
    ) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        let call = store("names", &id);
        self.call(call, move |world| Ok(world.set_title(&owner, &id, title)), told).await
    }

    async fn set_pinned(&self, owner: &Owner, id: &SessionId, pinned: bool) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        let call = store("pins", &id);
        self.call(call, move |world| Ok(world.set_pinned(&owner, &id, pinned)), told).await
    }

    async fn assign(&self, user: &UserId, id: &SessionId) -> PortResult<SessionAssigned> {
        let (user, id) = (user.clone(), id.clone());
        let call = store("assigns", &id);
        self.call(call, move |world| Ok(world.assign(&user, &id)), told).await
    }

    async fn delete(&self, owner: &Owner, id: &SessionId) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        let call = store("deletes", &id);
        self.call(call, move |world| Ok(world.delete_session(&owner, &id)), told).await
    }
}

#[async_trait]
impl Messages for Node {
    async fn page(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
        before: Option<i64>,
    ) -> PortResult<Option<MessagePage>> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store("pages", &session);
        let page = move |world: &mut State| Ok(world.page(&owner, &session, limit, before));
        self.call(call, page, quiet).await
    }
}

#[async_trait]
impl Turns for Node {
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened> {
        let (owner, call) = (owner.clone(), store("opens a turn of", &new.session_id));
        let told = |opened: &TurnOpened| match opened {
            TurnOpened::New(turn) => turn.id.to_string(),
            TurnOpened::Joined(turn) => format!("joined {}", turn.id),
            other => format!("{other:?}"),
        };
        self.call(call, move |world| Ok(world.open(&owner, &new)), told).await
    }

    async fn get(&self, owner: &Owner, turn: &TurnId) -> PortResult<Option<Turn>> {
        let (owner, turn) = (owner.clone(), turn.clone());
        let call = store("gets", &turn);
        self.call(call, move |world| Ok(world.turn(&owner, &turn)), quiet).await
    }

    async fn current(
        &self,
        owner: &Owner,
        session: &SessionId,
    ) -> PortResult<Option<(Turn, Option<Duration>)>> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store("gets the current turn of", &session);
        self.call(call, move |world| Ok(world.current(&owner, &session)), quiet).await
    }

    async fn request_cancel(&self, owner: &Owner, session: &SessionId) -> PortResult<Vec<Turn>> {
        let (owner, session) = (owner.clone(), session.clone());
        let call = store("cancels", &session);
        self.call(call, move |world| Ok(world.request_cancel(&owner, &session)), quiet).await
    }

    async fn progress(&self, claim: &TurnClaim) -> PortResult<Fenced<TurnProgress>> {
        let (call, claim) = (fenced("asks for the progress of", claim), claim.clone());
        let told = |progress: &Fenced<TurnProgress>| match progress {
            Fenced::Done(_) => String::new(),
            Fenced::Stale => "stale".to_owned(),
        };
        self.call(call, move |world| Ok(world.progress(&claim)), told).await
    }

    async fn record(&self, claim: &TurnClaim, record: JournalRecord) -> PortResult<Fenced<()>> {
        let (call, claim, sim) = (fenced("journals", claim), claim.clone(), self.sim.clone());
        let write = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| world.record(&claim, &record), wrote)
        };
        self.call(call, write, told).await
    }

    async fn finish(
        &self,
        claim: &TurnClaim,
        ending: TurnEnding,
    ) -> PortResult<Fenced<TurnFinished>> {
        let (call, claim) = (fenced(ending.status.as_str(), claim), claim.clone());
        let (task, sim) = (claim.turn_id.task(), self.sim.clone());
        let end = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| world.finish(&claim, &ending), wrote)
        };
        let ended = self.call(call, end, told).await;
        self.hint_of_growth(&task);
        ended
    }

    async fn step_aside(&self, claim: &TurnClaim) -> PortResult<Fenced<Vec<TurnId>>> {
        let (call, claim, sim) = (fenced("steps aside", claim), claim.clone(), self.sim.clone());
        let step = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| Ok(world.step_aside(&claim)), wrote)
        };
        self.call(call, step, told).await
    }

    async fn step_back(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        let (call, claim, sim) = (fenced("steps back", claim), claim.clone(), self.sim.clone());
        let step = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| Ok(world.step_back(&claim)), wrote)
        };
        self.call(call, step, told).await
    }

    async fn count_open(&self) -> PortResult<OpenTurns> {
        self.call(store("counts", "turns"), |world| Ok(world.count_open()), quiet).await
    }
}

#[async_trait]
impl Outbox for Node {
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<TurnId>> {
        let due = move |world: &mut State| Ok(world.due(limit, hold));
        self.call(store("asks", "what is due"), due, told).await
    }

    async fn pushed(&self, turns: &[TurnId], again_in: Duration) -> PortResult<()> {
        let turns = turns.to_vec();
        let call = store("has pushed", format_args!("{turns:?}"));
        let pushed = move |world: &mut State| {
            world.pushed(&turns, again_in);
            Ok(())
        };
        self.call(call, pushed, quiet).await
    }

    async fn lag(&self) -> PortResult<(u64, Duration)> {
        self.call(store("asks", "for the lag"), |world| Ok(world.lag()), quiet).await
    }
}

#[async_trait]
impl Leases for Node {
    async fn claim(
        &self,
        turn: &TurnId,
        worker: &WorkerId,
        ttl: Duration,
    ) -> PortResult<TurnClaimed> {
        let told = |claimed: &TurnClaimed| match claimed {
            TurnClaimed::Granted { claim, .. } => format!("won {}", claim.fence),
            TurnClaimed::Held => "held".to_owned(),
            TurnClaimed::NotAdmitted => "waits".to_owned(),
            TurnClaimed::Ended => "ended".to_owned(),
        };
        let (turn, worker) = (turn.clone(), worker.clone());
        let (call, sim, number) = (store("claims", &turn), self.sim.clone(), self.number);
        let effect = move |world: &mut State| {
            let claimed = world.claim(&turn, &worker, ttl);
            if let TurnClaimed::Granted { claim, .. } = &claimed {
                sim.facts().claimed(number, claim, world.now);
            }
            Ok(claimed)
        };
        self.call(call, effect, told).await
    }

    async fn renew(&self, claim: &TurnClaim, ttl: Duration) -> PortResult<LeaseRenewal> {
        let (call, claim) = (fenced("renews", claim), claim.clone());
        let (sim, number) = (self.sim.clone(), self.number);
        let effect = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            let renewal = sim.under_fence(
                world,
                under,
                |world| world.renew(&claim, ttl),
                |renewal| {
                    if *renewal == LeaseRenewal::Lost { Wrote::Nothing } else { Wrote::Something }
                },
            );
            if renewal != LeaseRenewal::Lost {
                sim.facts().claimed(number, &claim, world.now);
            }
            Ok(renewal)
        };
        self.call(call, effect, told).await
    }

    async fn hand_back(&self, claim: &TurnClaim) -> PortResult<Fenced<()>> {
        let (call, claim, sim) = (fenced("hands back", claim), claim.clone(), self.sim.clone());
        let hand_back = move |world: &mut State| {
            let under = (&claim.turn_id, claim.fence);
            sim.under_fence(world, under, |world| Ok(world.hand_back(&claim)), wrote)
        };
        self.call(call, hand_back, told).await
    }
}
