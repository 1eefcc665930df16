//! A simulated client: sends messages, follows the answers across lost connections, and sometimes cancels.

use std::time::Duration;

use pilothouse_engine::{
    CancelReason, FollowUpRequest, SubmissionKind, SubmissionOutcome, TurnSubmission,
};
use ports::follow::{LogFollower, LogUpdate};
use ports::store::FollowUpPushed;
use protocol::follow_up::FollowUpState;
use protocol::session::Owner;
use protocol::turn::TurnRequest;
use protocol::{MessageId, Segment, SessionId, TurnId};
use testkit::sim::Simulation;
use tokio::time::{sleep, timeout};

use crate::fleet::Fleet;
use crate::tree_checks;

/// Request timeout of a client.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
/// A cancel request itself waits for the end of the turn.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(7);

/// What a message became.
enum Sent {
    Turn(TurnId),
    FollowUp(MessageId),
}

pub(crate) struct Message<'a> {
    pub(crate) fleet: &'a Fleet,
    pub(crate) owner: &'a Owner,
    pub(crate) session: &'a SessionId,
    pub(crate) number: u64,
}

impl Message<'_> {
    /// Returns when the outcome of the message is known and its whole answer was read, if it has one.
    pub(crate) async fn send_and_follow(&self) {
        let sim = &self.fleet.sim;
        let (wait, cancels, after) = {
            let mut rng = sim.rng();
            let wait = rng.up_to(self.fleet.plan.sent_within);
            let cancels = rng.chance(self.fleet.plan.cancelled);
            (wait, cancels, rng.up_to(Duration::from_secs(6)))
        };
        sleep(wait).await;
        let cancel = async {
            if cancels {
                sleep(after).await;
                self.cancel().await;
            }
        };
        tokio::join!(self.send_until_settled(), cancel);
    }

    /// Sends until there is an answer, or until the message was returned and is not sent again.
    async fn send_until_settled(&self) {
        loop {
            match self.submit().await {
                Sent::Turn(turn) => {
                    if self.sim().rng().chance(200) {
                        self.submit_again(&turn).await;
                    }
                    let seen = self.follow(&turn).await;
                    return self.compare(&turn, &seen);
                }
                Sent::FollowUp(id) => match self.settled(&id).await {
                    // An earlier request arrived late and created a turn for the message.
                    None => {}
                    Some(FollowUpState::Returned | FollowUpState::Dropped)
                        if self.sim().rng().chance(500) => {}
                    Some(_) => return,
                },
            }
        }
    }

    async fn submit(&self) -> Sent {
        loop {
            let asked = if self.sim().rng().chance(300) {
                self.push().await
            } else {
                self.ask(&self.text()).await
            };
            let pause = match asked {
                Some(SubmissionOutcome::Accepted(turn) | SubmissionOutcome::Joined(turn)) => {
                    return Sent::Turn(turn.id);
                }
                Some(SubmissionOutcome::FollowUp(follow_up)) => {
                    return Sent::FollowUp(follow_up.id);
                }
                Some(SubmissionOutcome::TooMany | SubmissionOutcome::TooManyFollowUps) => {
                    Duration::from_secs(2)
                }
                Some(other) => {
                    self.sim().report_violation(format!("G7: a new message is answered {other:?}"));
                    Duration::from_secs(2)
                }
                None => Duration::from_millis(400),
            };
            let pause = self.sim().rng().up_to(pause);
            sleep(pause).await;
        }
    }

    /// Sends a follow-up to the running turn, if there is one.
    async fn push(&self) -> Option<SubmissionOutcome> {
        let request = FollowUpRequest {
            session_id: self.session.clone(),
            text: self.text(),
            client_id: Some(self.client_id()),
            context: None,
            file_ids: Vec::new(),
        };
        let process = self.fleet.any();
        let push = process.engine.follow_up(self.owner, request);
        match timeout(REQUEST_TIMEOUT, push).await.ok()?.ok()? {
            FollowUpPushed::Waits { follow_up, .. } | FollowUpPushed::Known(follow_up) => {
                Some(SubmissionOutcome::FollowUp(follow_up))
            }
            FollowUpPushed::Full => Some(SubmissionOutcome::TooManyFollowUps),
            // No turn is running, or the id already has a turn: submit it as a message.
            FollowUpPushed::NoTurn | FollowUpPushed::Reused => self.ask(&self.text()).await,
            FollowUpPushed::NoSession => Some(SubmissionOutcome::NoSession),
        }
    }

    /// The final state of a follow-up; `None` if it is no longer a follow-up.
    async fn settled(&self, id: &MessageId) -> Option<FollowUpState> {
        loop {
            let process = self.fleet.any();
            let list = process.ports.follow_ups.list(self.owner, self.session, 100);
            if let Ok(Ok(Some(listed))) = timeout(REQUEST_TIMEOUT, list).await {
                let found = listed.iter().find(|follow_up| follow_up.id == *id);
                match found.map(|follow_up| follow_up.state) {
                    Some(FollowUpState::Pending) => {}
                    settled => return settled,
                }
            }
            sleep(Duration::from_millis(500)).await;
        }
    }

    /// Repeating the message returns the same turn; the same id with another text is refused.
    async fn submit_again(&self, turn: &TurnId) {
        match self.ask(&self.text()).await {
            Some(SubmissionOutcome::Joined(again)) if again.id == *turn => {}
            None => {}
            other => self.sim().report_violation(format!("G7: {turn} sent again is {other:?}")),
        }
        match self.ask("other words").await {
            Some(SubmissionOutcome::MessageIdReused) | None => {}
            other => {
                self.sim().report_violation(format!("G7: {turn} with other words is {other:?}"))
            }
        }
    }

    /// `None` if the outcome is unknown.
    async fn ask(&self, text: &str) -> Option<SubmissionOutcome> {
        let submission = TurnSubmission {
            session_id: self.session.clone(),
            request: TurnRequest::default(),
            kind: SubmissionKind::Message {
                text: text.to_owned(),
                client_id: Some(self.client_id()),
                file_ids: Vec::new(),
            },
        };
        let process = self.fleet.any();
        timeout(REQUEST_TIMEOUT, process.engine.submit(self.owner, submission)).await.ok()?.ok()
    }

    async fn cancel(&self) {
        loop {
            let process = self.fleet.any();
            let asked = self.sim().backend.now();
            let cancel = process.engine.cancel(self.owner, self.session);
            if let Ok(Ok(report)) = timeout(CANCEL_TIMEOUT, cancel).await {
                if report.reason != Some(CancelReason::NotConfirmed) {
                    tree_checks::nothing_runs(self.sim(), self.session, asked);
                }
                let took = self.sim().backend.now() - asked;
                if self.fleet.plan.cancelled_within.is_some_and(|most| took > most) {
                    self.sim().report_violation(format!("G9: a cancel took {took:?}"));
                }
                return;
            }
            sleep(Duration::from_millis(300)).await;
        }
    }

    /// Reads the whole log, over as many connections as necessary.
    async fn follow(&self, turn: &TurnId) -> Vec<Segment> {
        let mut seen: Vec<Segment> = Vec::new();
        loop {
            let log = self.fleet.any().ports.log.clone();
            let cursor = seen.last().map_or(0, |segment| segment.last);
            let mut follower =
                LogFollower::new(log, turn.task(), cursor, Duration::from_millis(500));
            let patience = self.sim().rng().up_to(Duration::from_secs(6));
            let reading = async {
                loop {
                    match follower.next(Duration::from_secs(2)).await {
                        Ok(LogUpdate::Segments(segments)) => seen.extend(segments),
                        Ok(LogUpdate::Silent) => {}
                        Ok(end) => return Some(end),
                        Err(_) => return None,
                    }
                }
            };
            match timeout(patience, reading).await {
                Ok(Some(LogUpdate::End)) => return seen,
                Ok(Some(other)) => {
                    self.sim().report_violation(format!("G4: the log of {turn} is {other:?}"));
                    return seen;
                }
                Ok(None) | Err(_) => {
                    let away = self.sim().rng().up_to(Duration::from_millis(500));
                    sleep(away).await;
                }
            }
        }
    }

    fn compare(&self, turn: &TurnId, seen: &[Segment]) {
        let state = self.sim().backend.state();
        let bytes = |segments: &[Segment]| -> Vec<u8> {
            segments.iter().flat_map(|segment| segment.bytes.to_vec()).collect()
        };
        let same = bytes(seen) == bytes(&state.logs[&turn.task()].segments);
        let ended = !state.turns[turn].is_open();
        drop(state);
        if !same {
            self.sim().report_violation(format!(
                "G4: a client read {turn} differently from what is stored"
            ));
        }
        if !ended {
            self.sim().report_violation(format!(
                "G6: a client read the end of {turn}, which has not ended"
            ));
        }
    }

    /// No text contains another.
    fn text(&self) -> String {
        format!("{} asks {}.", self.session, self.number)
    }

    fn client_id(&self) -> String {
        format!("message-{}", self.number)
    }

    fn sim(&self) -> &Simulation {
        &self.fleet.sim
    }
}
