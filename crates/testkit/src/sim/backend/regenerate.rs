//! Regenerates the response to an earlier message. Replaced rows stay stored and are marked as superseded.

use ports::store::{NewTurn, TurnOpened};
use protocol::message::MessageRole;
use protocol::{MessageId, SessionId, TurnId};

use super::insert_turn::{NewTurnRow, SubmissionKey};
use super::{BackendState, TurnRow};

impl BackendState {
    pub(crate) fn regenerate(&mut self, new: &NewTurn, from: Option<&MessageId>) -> TurnOpened {
        let session = &new.session_id;
        let target = self.target(session, from).map(|row| row.turn.id.clone());
        if let Some(active) = self.first_open(session) {
            let same = match (&active.regenerates, from) {
                (None, _) => false,
                // Without a message id, the request means the message that the active turn regenerates.
                (Some(_), None) => true,
                (Some(regenerated), Some(_)) => target.as_ref() == Some(regenerated),
            };
            let active = Box::new(self.visible_turn(active));
            return if same { TurnOpened::Joined(active) } else { TurnOpened::Busy };
        }
        // An open operation will add messages to the history that would be replaced.
        let of_session = |row: &TurnRow| row.turn.session_id == *session;
        if self.turns.values().any(|row| of_session(row) && row.is_open()) {
            return TurnOpened::Busy;
        }
        let Some(old) = target.filter(|id| !self.turns[id].superseded) else {
            return TurnOpened::NothingToRegenerate;
        };
        if self.permit_usage(&self.quota_key_of(session)).0 >= self.caps.in_flight {
            return TurnOpened::TooMany;
        }
        // The client id moves with its message: only one turn may have it.
        let submission = self.turns.get_mut(&old).map(|row| SubmissionKey {
            client_id: row.client_id.take(),
            fingerprint: row.fingerprint.take(),
        });
        let Some(turn) =
            self.insert_turn(NewTurnRow::in_session_order(new, submission.unwrap_or_default()))
        else {
            return TurnOpened::NoSession;
        };
        self.replace(session, &old, &turn);
        TurnOpened::New(Box::new(self.visible_turn(&self.turns[&turn])))
    }

    /// The last turn, or the turn whose message id or one of whose rows has this id.
    fn target(&self, session: &SessionId, from: Option<&MessageId>) -> Option<&TurnRow> {
        let rows = &self.sessions.get(session)?.messages;
        let matches = |row: &TurnRow| match from {
            None => true,
            Some(id) => {
                let mut rows = rows.iter().map(|row| &row.message);
                row.turn.message_id == *id
                    || rows.any(|message| message.id == *id && message.turn_id == row.turn.id)
            }
        };
        let turns = || self.turns.values().filter(|row| row.turn.session_id == *session);
        let matching = turns().filter(|row| matches(row)).max_by_key(|row| row.ordinal)?;
        // A turn of an operation has no user message: take the last turn before it that has one.
        let answers = turns().filter(|row| row.turn.operation.is_none());
        answers.filter(|row| row.ordinal <= matching.ordinal).max_by_key(|row| row.ordinal)
    }

    /// Marks the old turn and all later ones as superseded, except for the user message to answer again.
    fn replace(&mut self, session: &SessionId, old: &TurnId, new: &TurnId) {
        let (from, to) = (self.turns[old].ordinal, self.turns[new].ordinal);
        for row in self.turns.values_mut().filter(|row| row.turn.session_id == *session) {
            row.superseded |= row.ordinal >= from && row.turn.id != *new;
        }
        if let Some(row) = self.turns.get_mut(new) {
            row.regenerates = Some(old.clone());
        }
        let Some(row) = self.sessions.get_mut(session) else { return };
        for row in row.messages.iter_mut().filter(|row| !row.superseded) {
            if row.message.turn_id == *old && row.message.role == MessageRole::User {
                row.message.turn_id = new.clone();
                row.ordinal = to;
            }
            row.superseded = row.ordinal >= from && row.message.turn_id != *new;
        }
    }
}
