//! Somebody who sends messages, follows the answers through lost connections, and sometimes changes his mind.

use std::time::Duration;

use pilothouse_engine::{Submission, Submitted, What};
use ports::follow::{Followed, Follower};
use protocol::session::Owner;
use protocol::turn::TurnRequest;
use protocol::{Segment, SessionId, TurnId};
use testkit::sim::Simulation;
use tokio::time::{sleep, timeout};

use crate::fleet::Fleet;

/// How long a client waits for an answer to a request.
const PATIENCE: Duration = Duration::from_secs(3);
/// A cancel waits for the end by itself.
const CANCEL_PATIENCE: Duration = Duration::from_secs(7);

pub(crate) struct Message<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) owner: &'a Owner,
    pub(crate) session: &'a SessionId,
    pub(crate) number: u64,
}

impl Message<'_> {
    /// Returns when the whole answer was seen.
    pub(crate) async fn send_and_follow(&self) {
        let sim = &self.fleet.sim;
        let (wait, cancels, after) = {
            let mut dice = sim.dice();
            let wait = dice.up_to(self.fleet.plan.sent_within);
            let cancels = dice.chance(self.fleet.plan.cancelled);
            (wait, cancels, dice.up_to(Duration::from_secs(6)))
        };
        sleep(wait).await;
        let turn = self.submit().await;
        if sim.dice().chance(200) {
            self.submit_again(&turn).await;
        }
        let cancel = async {
            if cancels {
                sleep(after).await;
                self.cancel().await;
            }
        };
        let (seen, ()) = tokio::join!(self.follow(&turn), cancel);
        self.compare(&turn, &seen);
    }

    async fn submit(&self) -> TurnId {
        loop {
            let pause = match self.ask(&self.text()).await {
                Some(Submitted::Accepted(turn) | Submitted::Joined(turn)) => return turn.id,
                Some(Submitted::TooMany) => Duration::from_secs(2),
                Some(other) => {
                    self.sim().violated(format!("G7: a new message is answered {other:?}"));
                    Duration::from_secs(2)
                }
                None => Duration::from_millis(400),
            };
            let pause = self.sim().dice().up_to(pause);
            sleep(pause).await;
        }
    }

    /// The same again is the same turn; the same id with other words is refused.
    async fn submit_again(&self, turn: &TurnId) {
        match self.ask(&self.text()).await {
            Some(Submitted::Joined(again)) if again.id == *turn => {}
            None => {}
            other => self.sim().violated(format!("G7: {turn} sent again is {other:?}")),
        }
        match self.ask("other words").await {
            Some(Submitted::MessageIdReused) | None => {}
            other => self.sim().violated(format!("G7: {turn} with other words is {other:?}")),
        }
    }

    /// `None` when it is not known what became of it.
    async fn ask(&self, text: &str) -> Option<Submitted> {
        let submission = Submission {
            session_id: self.session.clone(),
            request: TurnRequest::default(),
            what: What::Message {
                text: text.to_owned(),
                client_id: Some(format!("message-{}", self.number)),
                file_ids: Vec::new(),
            },
        };
        let process = self.fleet.any();
        timeout(PATIENCE, process.engine.submit(self.owner, submission)).await.ok()?.ok()
    }

    async fn cancel(&self) {
        loop {
            let process = self.fleet.any();
            let asked = self.sim().world.now();
            let cancel = process.engine.cancel(self.owner, self.session);
            if matches!(timeout(CANCEL_PATIENCE, cancel).await, Ok(Ok(_))) {
                let took = self.sim().world.now() - asked;
                if self.fleet.plan.cancelled_within.is_some_and(|most| took > most) {
                    self.sim().violated(format!("G9: a cancel took {took:?}"));
                }
                return;
            }
            sleep(Duration::from_millis(300)).await;
        }
    }

    /// Everything that was said, seen over as many connections as it takes.
    async fn follow(&self, turn: &TurnId) -> Vec<Segment> {
        let mut seen: Vec<Segment> = Vec::new();
        loop {
            let log = self.fleet.any().ports.log.clone();
            let cursor = seen.last().map_or(0, |segment| segment.last);
            let mut follower = Follower::new(log, turn.task(), cursor, Duration::from_millis(500));
            let patience = self.sim().dice().up_to(Duration::from_secs(6));
            let reading = async {
                loop {
                    match follower.next(Duration::from_secs(2)).await {
                        Ok(Followed::Segments(segments)) => seen.extend(segments),
                        Ok(Followed::Silent) => {}
                        Ok(end) => return Some(end),
                        Err(_) => return None,
                    }
                }
            };
            match timeout(patience, reading).await {
                Ok(Some(Followed::End)) => return seen,
                Ok(Some(other)) => {
                    self.sim().violated(format!("G4: the log of {turn} is {other:?}"));
                    return seen;
                }
                Ok(None) | Err(_) => {
                    let away = self.sim().dice().up_to(Duration::from_millis(500));
                    sleep(away).await;
                }
            }
        }
    }

    fn compare(&self, turn: &TurnId, seen: &[Segment]) {
        let state = self.sim().world.state();
        let bytes = |segments: &[Segment]| -> Vec<u8> {
            segments.iter().flat_map(|segment| segment.bytes.to_vec()).collect()
        };
        let same = bytes(seen) == bytes(&state.logs[&turn.task()].segments);
        let ended = !state.turns[turn].is_open();
        drop(state);
        if !same {
            self.sim().violated(format!("G4: a client saw {turn} otherwise than it is stored"));
        }
        if !ended {
            self.sim().violated(format!("G6: a client saw the end of {turn}, which has none"));
        }
    }

    fn text(&self) -> String {
        format!("{} asks {}", self.session, self.number)
    }

    fn sim(&self) -> &Simulation {
        &self.fleet.sim
    }
}
