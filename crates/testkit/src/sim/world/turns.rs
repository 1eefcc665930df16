//! Turns as they are accepted and looked at.

use std::time::Duration;

use ports::Fenced;
use ports::store::{NewTurn, OpenTurns, Opened, Progress, TurnKind};
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::turn::{Claim, Turn, TurnStatus};
use protocol::usage::Usage;
use protocol::{MessageId, SessionId, TurnId};

use super::log::Log;
use super::{State, TurnRow};

/// How a submission is recognised when it comes again.
#[derive(Clone, Default)]
pub(super) struct Asked {
    pub(super) client_id: Option<String>,
    pub(super) fingerprint: Option<String>,
}

impl State {
    pub fn open(&mut self, owner: &Owner, new: &NewTurn) -> Opened {
        if self.session(owner, &new.session_id).is_none() {
            return Opened::NoSession;
        }
        match &new.kind {
            TurnKind::Regenerate { from } => self.regenerate(new, from.as_ref()),
            TurnKind::Submit { message, client_id, fingerprint } => {
                let asked =
                    Asked { client_id: client_id.clone(), fingerprint: Some(fingerprint.clone()) };
                self.submit(new, message.clone(), asked)
            }
        }
    }

    fn submit(&mut self, new: &NewTurn, mut message: NewMessage, asked: Asked) -> Opened {
        if let Some(client_id) = &asked.client_id {
            if let Some(known) = self.known(&new.session_id, client_id, &asked) {
                return known;
            }
            message.id = MessageId(client_id.clone());
        }
        let Some(turn) = self.insert_turn(new, asked) else { return Opened::TooMany };
        self.insert_message(&turn, &message);
        Opened::New(Box::new(self.seen(&self.turns[&turn])))
    }

    /// What became of this client id before, if anything.
    fn known(&self, session: &SessionId, client_id: &str, asked: &Asked) -> Option<Opened> {
        let named = self.turns.values().find(|row| {
            row.turn.session_id == *session && row.client_id.as_deref() == Some(client_id)
        });
        if let Some(row) = named {
            let same = row.fingerprint == asked.fingerprint;
            return Some(if same {
                Opened::Joined(Box::new(self.seen(row)))
            } else {
                Opened::Reused
            });
        }
        // The id of a row that no client named cannot be given to another.
        let rows = &self.sessions.get(session)?.messages;
        rows.iter().any(|row| row.message.id.as_str() == client_id).then_some(Opened::Reused)
    }

    /// Adds a turn at the end of its session, with an empty log, unless its slot has too many.
    pub(super) fn insert_turn(&mut self, new: &NewTurn, asked: Asked) -> Option<TurnId> {
        let slot = self.slot_of(&new.session_id);
        let (in_flight, places) = self.taken(&slot);
        if in_flight >= self.caps.in_flight {
            return None;
        }
        let admitted = places < self.caps.running && self.first_open(&new.session_id).is_none();
        let accepted = self.next();
        let (now, wall) = (self.now, self.wall());
        let session = self.sessions.get_mut(&new.session_id)?;
        session.last_ordinal += 1;
        session.session.updated_at = wall;
        let id = TurnId(format!("turn-{accepted:04}"));
        let turn = Turn {
            id: id.clone(),
            session_id: new.session_id.clone(),
            user_id: None,
            status: TurnStatus::Queued,
            message_id: MessageId(id.0.clone()),
            request: new.request.clone(),
            fence: 0,
            attempt: 0,
            admitted,
            cancel_requested: false,
            error: None,
            usage: Usage::default(),
            created_at: wall,
            started_at: None,
            ended_at: None,
        };
        let row = TurnRow {
            turn,
            ordinal: session.last_ordinal,
            accepted,
            client_id: asked.client_id,
            fingerprint: asked.fingerprint,
            slot,
            opened: now,
            admitted,
            due: admitted.then(|| now + new.push_grace),
            lease_until: None,
            worker: None,
            started: None,
            ended: None,
            cancelled: None,
            steps_done: 0,
            calls: Vec::new(),
            last_record: None,
            regenerates: None,
            superseded: false,
        };
        self.turns.insert(id.clone(), row);
        self.logs.entry(id.task()).or_insert_with(Log::unwritten);
        Some(id)
    }

    pub fn turn(&self, owner: &Owner, id: &TurnId) -> Option<Turn> {
        let row = self.turns.get(id)?;
        self.session(owner, &row.turn.session_id)?;
        Some(self.seen(row))
    }

    pub fn current(&self, owner: &Owner, session: &SessionId) -> Option<(Turn, Option<Duration>)> {
        self.session(owner, session)?;
        if let Some(open) = self.first_open(session) {
            return Some((self.seen(open), None));
        }
        let ended = self.turns.values().filter(|row| row.turn.session_id == *session);
        let last = ended.max_by_key(|row| row.ordinal)?;
        Some((self.seen(last), last.ended.map(|at| self.now - at)))
    }

    pub fn request_cancel(&mut self, owner: &Owner, session: &SessionId) -> Vec<Turn> {
        if self.session(owner, session).is_none() {
            return Vec::new();
        }
        let now = self.now;
        let mut marked: Vec<(i64, TurnId)> = Vec::new();
        for row in self.turns.values_mut() {
            if row.turn.session_id == *session && row.is_open() {
                row.turn.cancel_requested = true;
                row.cancelled.get_or_insert(now);
                marked.push((row.ordinal, row.turn.id.clone()));
            }
        }
        marked.sort();
        marked.iter().map(|(_, id)| self.seen(&self.turns[id])).collect()
    }

    pub fn progress(&mut self, claim: &Claim) -> Fenced<Progress> {
        let Some(row) = self.held(claim) else { return Fenced::Stale };
        let (steps_done, usage, calls) = (row.steps_done, row.turn.usage, row.calls.clone());
        let ordinal = row.ordinal;
        let session = &self.sessions[&claim.session_id];
        let owner = session.session.user_id.clone().map_or(Owner::Anonymous, Owner::User);
        // Turn by turn: what was sent while another turn ran comes after that turn's answer.
        let mut rows: Vec<_> = session
            .messages
            .iter()
            .filter(|row| row.ordinal <= ordinal && !row.superseded)
            .collect();
        rows.sort_by_key(|row| (row.ordinal, row.message.sequence));
        let messages = rows.into_iter().map(|row| row.message.clone()).collect();
        let session = session.session.clone();
        Fenced::Done(Progress { session, owner, messages, steps_done, usage, calls })
    }

    pub fn count_open(&self) -> OpenTurns {
        let count =
            |status| self.turns.values().filter(|row| row.turn.status == status).count() as u64;
        OpenTurns {
            queued: count(TurnStatus::Queued),
            running: count(TurnStatus::Running),
            oldest_queued: Duration::ZERO,
        }
    }
}
