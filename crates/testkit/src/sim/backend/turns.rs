//! Opens turns and reads them.

use std::time::Duration;

use ports::Fenced;
use ports::store::{
    FollowUpPushed, NewFollowUp, NewTurn, OpenTurns, TurnKind, TurnOpened, TurnProgress, WhenBusy,
};
use protocol::session::Owner;
use protocol::turn::{Turn, TurnClaim, TurnStatus};
use protocol::{MessageId, SessionId, TurnId};

use super::insert_turn::{NewTurnRow, SubmissionKey};
use super::{BackendState, MessageRow, TurnRow};

impl BackendState {
    pub fn open(&mut self, owner: &Owner, new: &NewTurn) -> TurnOpened {
        if self.session(owner, &new.session_id).is_none() {
            return TurnOpened::NoSession;
        }
        match &new.kind {
            TurnKind::Regenerate { from } => self.regenerate(new, from.as_ref()),
            TurnKind::Submit { message, client_id, fingerprint, when_busy } => {
                let message = NewFollowUp {
                    message: message.clone(),
                    client_id: client_id.clone(),
                    fingerprint: fingerprint.clone(),
                };
                self.submit(new, message, *when_busy)
            }
        }
    }

    fn submit(
        &mut self,
        new: &NewTurn,
        mut submission: NewFollowUp,
        when_busy: WhenBusy,
    ) -> TurnOpened {
        let session = &new.session_id;
        if let Some(known) = self.known(session, &submission) {
            return known;
        }
        if let Some(refused) = new.parent.as_ref().and_then(|by| self.refused_by_parent(by)) {
            return refused;
        }
        if when_busy == WhenBusy::FollowUp {
            match self.add_follow_up(session, &submission) {
                FollowUpPushed::Waits { follow_up, .. } => return TurnOpened::FollowUp(follow_up),
                FollowUpPushed::Full => return TurnOpened::TooManyFollowUps,
                // No turn is running: the message opens a turn.
                _ => {}
            }
        }
        if self.permit_usage(&self.quota_key_of(session)).0 >= self.caps.in_flight {
            return TurnOpened::TooMany;
        }
        if let Some(client_id) = &submission.client_id {
            self.forget_follow_up(session, client_id);
            submission.message.id = MessageId(client_id.clone());
        }
        let NewFollowUp { message, client_id, fingerprint } = submission;
        let submission = SubmissionKey { client_id, fingerprint: Some(fingerprint) };
        let Some(turn) = self.insert_turn(NewTurnRow::in_session_order(new, submission)) else {
            return TurnOpened::NoSession;
        };
        self.insert_message(&turn, &message);
        TurnOpened::New(Box::new(self.visible_turn(&self.turns[&turn])))
    }

    /// The earlier result for this client id, if it is known.
    fn known(&self, session: &SessionId, submission: &NewFollowUp) -> Option<TurnOpened> {
        let client_id = submission.client_id.as_ref()?;
        if let Some(row) = self.named_by(session, client_id) {
            let same = row.fingerprint.as_ref() == Some(&submission.fingerprint);
            let known = || TurnOpened::Joined(Box::new(self.visible_turn(row)));
            return Some(if same { known() } else { TurnOpened::Reused });
        }
        match self.known_follow_up(session, client_id, &submission.fingerprint) {
            Some(FollowUpPushed::Known(follow_up)) => Some(TurnOpened::FollowUp(follow_up)),
            Some(_) => Some(TurnOpened::Reused),
            None => self.is_known(session, client_id).then_some(TurnOpened::Reused),
        }
    }

    fn named_by(&self, session: &SessionId, client_id: &str) -> Option<&TurnRow> {
        self.turns.values().find(|row| {
            row.turn.session_id == *session && row.client_id.as_deref() == Some(client_id)
        })
    }

    /// Whether a turn or a message already has this id.
    pub(crate) fn is_known(&self, session: &SessionId, client_id: &str) -> bool {
        let rows = self.sessions.get(session).map(|row| &row.messages);
        let has_id = |row: &MessageRow| row.message.id.as_str() == client_id;
        self.named_by(session, client_id).is_some()
            || rows.is_some_and(|rows| rows.iter().any(has_id))
    }

    pub fn turn(&self, owner: &Owner, id: &TurnId) -> Option<Turn> {
        let row = self.turns.get(id)?;
        self.session(owner, &row.turn.session_id)?;
        Some(self.visible_turn(row))
    }

    pub fn current(&self, owner: &Owner, session: &SessionId) -> Option<(Turn, Option<Duration>)> {
        self.session(owner, session)?;
        if let Some(open) = self.first_open(session) {
            return Some((self.visible_turn(open), None));
        }
        let ended = self.turns.values().filter(|row| row.turn.session_id == *session);
        let ended = ended.filter(|row| row.has_ordinal());
        let last = ended.max_by_key(|row| row.ordinal)?;
        Some((self.visible_turn(last), last.ended.map(|at| self.now - at)))
    }

    pub fn progress(&mut self, claim: &TurnClaim) -> Fenced<TurnProgress> {
        let Some(row) = self.claimed_row(claim) else { return Fenced::Stale };
        let (steps_done, usage, calls) = (row.steps_done, row.turn.usage, row.calls.clone());
        let (ordinal, named) = (row.ordinal, row.turn.operation.clone());
        let waiting_follow_ups = self.waiting_for(&claim.turn_id).count() as u32;
        let operation = named.and_then(|named| self.operations.get(&named.id).cloned());
        let session = &self.sessions[&claim.session_id];
        let owner = session.session.user_id.clone().map_or(Owner::Anonymous, Owner::User);
        // Ordered by turn: a message sent while another turn ran comes after that turn's response.
        let messages = session.messages.iter();
        let mut rows: Vec<_> =
            messages.filter(|row| row.ordinal <= ordinal && !row.superseded).collect();
        rows.sort_by_key(|row| (row.ordinal, row.message.sequence));
        let messages = rows.into_iter().map(|row| row.message.clone()).collect();
        let session = session.session.clone();
        Fenced::Done(TurnProgress {
            session,
            owner,
            messages,
            steps_done,
            usage,
            calls,
            waiting_follow_ups,
            operation,
        })
    }

    pub fn count_open(&self) -> OpenTurns {
        let in_session_order = || self.turns.values().filter(|row| row.has_ordinal());
        let count =
            |status| in_session_order().filter(|row| row.turn.status == status).count() as u64;
        OpenTurns {
            queued: count(TurnStatus::Queued),
            running: count(TurnStatus::Running),
            oldest_queued: Duration::ZERO,
        }
    }
}
