//! Sessions and their owners.

use ports::store::{ListSessions, NewSession, SessionAssigned, SessionPage, TitleChange};
use ports::{PortError, PortResult};
use protocol::session::{ChatStatus, Owner, Session};
use protocol::turn::TurnStatus;
use protocol::{SessionId, UserId};

use super::{BackendState, SessionRow, session_label};

impl BackendState {
    pub fn create_session(&mut self, owner: &Owner, new: NewSession) -> PortResult<Session> {
        if let Some(known) = new.id.as_ref().and_then(|id| self.sessions.get(id)) {
            if known.session.user_id.as_ref() != owner.user() {
                return Err(PortError::Broken("the id belongs to another owner".into()));
            }
            let id = known.session.id.clone();
            return self
                .session(owner, &id)
                .ok_or_else(|| PortError::Broken("the owner cannot see the session".into()));
        }
        let created = self.next_number();
        let id = new.id.unwrap_or_else(|| SessionId(session_label(created)));
        let now = self.wall();
        let session = Session {
            id: id.clone(),
            user_id: owner.user().cloned(),
            title: None,
            is_pinned: false,
            dry_run: new.dry_run,
            metadata: new.metadata,
            parent_session_id: new.parent_session_id,
            depth: new.depth,
            created_at: now,
            updated_at: now,
            chat_status: ChatStatus::Idle,
            total_prompt_tokens: 0,
            total_completion_tokens: 0,
            total_cost_microdollars: 0,
        };
        let messages = Vec::new();
        let row = SessionRow { session: session.clone(), messages, last_ordinal: 0, created };
        self.sessions.insert(id, row);
        Ok(session)
    }

    pub fn session(&self, owner: &Owner, id: &SessionId) -> Option<Session> {
        let row = self.sessions.get(id).filter(|row| may_see(owner, &row.session))?;
        let chat_status = match self.first_open(id).map(|open| open.turn.status) {
            None => ChatStatus::Idle,
            Some(TurnStatus::Running) => ChatStatus::Running,
            Some(_) => ChatStatus::Queued,
        };
        Some(Session { chat_status, ..row.session.clone() })
    }

    pub fn list_sessions(&self, owner: &Owner, wanted: ListSessions) -> SessionPage {
        let Some(user) = owner.user() else {
            return SessionPage { sessions: Vec::new(), total: 0 };
        };
        let mut rows: Vec<&SessionRow> = self
            .sessions
            .values()
            .filter(|row| row.session.user_id.as_ref() == Some(user))
            .filter(|row| has_words(row.session.title.as_deref().unwrap_or(""), &wanted.words))
            .collect();
        let total = rows.len() as u64;
        rows.sort_by_key(|row| {
            let pinned = wanted.pinned_first && row.session.is_pinned;
            std::cmp::Reverse((pinned, row.session.updated_at, row.created))
        });
        let page = rows.iter().skip(wanted.offset as usize).take(wanted.limit as usize);
        let sessions = page.filter_map(|row| self.session(owner, &row.session.id)).collect();
        SessionPage { sessions, total }
    }

    pub fn set_title(&mut self, owner: &Owner, id: &SessionId, title: TitleChange) -> bool {
        let Some(session) = self.own_session(owner, id) else { return false };
        match title {
            TitleChange::ByUser(text) => session.title = Some(text),
            TitleChange::Generated(_) if session.title.is_some() => return false,
            TitleChange::Generated(text) => session.title = Some(text),
        }
        true
    }

    pub fn set_pinned(&mut self, owner: &Owner, id: &SessionId, pinned: bool) -> bool {
        let session = self.own_session(owner, id);
        session.map(|session| session.is_pinned = pinned).is_some()
    }

    pub fn assign(&mut self, user: &UserId, id: &SessionId) -> SessionAssigned {
        let Some(row) = self.sessions.get_mut(id) else { return SessionAssigned::NotFound };
        match &row.session.user_id {
            None => {
                row.session.user_id = Some(user.clone());
                SessionAssigned::Done
            }
            Some(owner) if owner == user => SessionAssigned::Already,
            Some(_) => SessionAssigned::NotFound,
        }
    }

    pub fn delete_session(&mut self, owner: &Owner, id: &SessionId) -> bool {
        if self.session(owner, id).is_none() {
            return false;
        }
        self.sessions.remove(id);
        let gone = self.turns.extract_if(.., |_, row| row.turn.session_id == *id);
        let gone: Vec<_> = gone.map(|(_, row)| row).collect();
        self.follow_ups.retain(|row| row.follow_up.session_id != *id);
        self.operations.retain(|_, operation| operation.session_id != *id);
        for row in &gone {
            self.logs.remove(&row.turn.id.task());
            self.wake(&row.turn.id.task());
        }
        for row in self.sessions.values_mut() {
            row.session.parent_session_id.take_if(|parent| parent == id);
        }
        for row in self.turns.values_mut() {
            row.turn.parent.take_if(|parent| gone.iter().any(|gone| gone.turn.id == *parent));
        }
        for row in gone.iter().filter(|row| row.is_open()) {
            self.admit(&row.quota_key);
        }
        true
    }

    fn own_session(&mut self, owner: &Owner, id: &SessionId) -> Option<&mut Session> {
        let row = self.sessions.get_mut(id).filter(|row| may_see(owner, &row.session))?;
        Some(&mut row.session)
    }
}

/// Whether the session is the owner's, or has no user yet.
pub(crate) fn may_see(owner: &Owner, session: &Session) -> bool {
    session.user_id.is_none() || session.user_id.as_ref() == owner.user()
}

fn has_words(title: &str, words: &[String]) -> bool {
    let title = title.to_lowercase();
    words.iter().all(|word| title.contains(&word.to_lowercase()))
}
