//! Answering an earlier message again. What leaves the history stays, marked.

use ports::store::{NewTurn, TurnOpened};
use protocol::message::MessageRole;
use protocol::{MessageId, SessionId, TurnId};

use super::insert::{Asked, NewRow};
use super::{State, TurnRow};

impl State {
    pub(super) fn regenerate(&mut self, new: &NewTurn, from: Option<&MessageId>) -> TurnOpened {
        let session = &new.session_id;
        let target = self.target(session, from).map(|row| row.turn.id.clone());
        if let Some(active) = self.first_open(session) {
            let same = match (&active.regenerates, from) {
                (None, _) => false,
                // "The last one" is what the active turn is answering again.
                (Some(_), None) => true,
                (Some(regenerated), Some(_)) => target.as_ref() == Some(regenerated),
            };
            let active = Box::new(self.seen(active));
            return if same { TurnOpened::Joined(active) } else { TurnOpened::Busy };
        }
        // Operations run beside the session, and what they will say belongs to the history that would be replaced.
        let of_session = |row: &TurnRow| row.turn.session_id == *session;
        if self.turns.values().any(|row| of_session(row) && row.is_open()) {
            return TurnOpened::Busy;
        }
        let Some(old) = target.filter(|id| !self.turns[id].superseded) else {
            return TurnOpened::NothingToRegenerate;
        };
        if self.taken(&self.slot_of(session)).0 >= self.caps.in_flight {
            return TurnOpened::TooMany;
        }
        // The client's id goes with its message, and only one turn may have it.
        let asked = self.turns.get_mut(&old).map(|row| Asked {
            client_id: row.client_id.take(),
            fingerprint: row.fingerprint.take(),
        });
        let Some(turn) = self.insert_turn(NewRow::in_line(new, asked.unwrap_or_default())) else {
            return TurnOpened::NoSession;
        };
        self.replace(session, &old, &turn);
        TurnOpened::New(Box::new(self.seen(&self.turns[&turn])))
    }

    /// The last turn, or the one that streams under this id, or that a row with this id belongs to.
    fn target(&self, session: &SessionId, from: Option<&MessageId>) -> Option<&TurnRow> {
        let rows = &self.sessions.get(session)?.messages;
        let said = |row: &TurnRow| match from {
            None => true,
            Some(id) => {
                let mut rows = rows.iter().map(|row| &row.message);
                row.turn.message_id == *id
                    || rows.any(|said| said.id == *id && said.turn_id == row.turn.id)
            }
        };
        let turns = || self.turns.values().filter(|row| row.turn.session_id == *session);
        let said_it = turns().filter(|row| said(row)).max_by_key(|row| row.ordinal)?;
        // A turn that carries out an operation has no message to answer again: the last one before it has.
        let answers = turns().filter(|row| row.turn.operation.is_none());
        answers.filter(|row| row.ordinal <= said_it.ordinal).max_by_key(|row| row.ordinal)
    }

    /// Takes the old turn and all after it out of the history, except for the message to be answered anew.
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
