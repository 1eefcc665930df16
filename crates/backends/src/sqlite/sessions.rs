//! Sessions and their owners.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{ListSessions, NewSession, SessionAssigned, SessionPage, Sessions, TitleChange};
use protocol::session::{Owner, Session};
use protocol::{SessionId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use super::error::SqliteError;
use super::write_job::{WriteOutput, WritePriority};
use super::{SqliteStore, StoreTime, session_delete};
use crate::rows::sessions::{session, session_columns};
use crate::rules::title_search::globs;

#[async_trait]
impl Sessions for SqliteStore {
    async fn create(&self, owner: &Owner, new: NewSession) -> PortResult<Session> {
        let (owner, now) = (owner.clone(), self.store_time());
        self.writer.run(WritePriority::Ordinary, move |db| create(db, now, &owner, &new)).await
    }

    async fn get(&self, owner: &Owner, id: &SessionId) -> PortResult<Option<Session>> {
        let (owner, id) = (owner.clone(), id.clone());
        self.readers.run(move |db| find(db, &owner, &id)).await
    }

    async fn list(&self, owner: &Owner, wanted: ListSessions) -> PortResult<SessionPage> {
        let Some(user) = owner.user().cloned() else {
            return Ok(SessionPage { sessions: Vec::new(), total: 0 });
        };
        self.readers.run(move |db| list(db, &user, wanted)).await
    }

    async fn set_title(
        &self,
        owner: &Owner,
        id: &SessionId,
        title: TitleChange,
    ) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                let (text, unless) = match &title {
                    TitleChange::ByUser(text) => (text, ""),
                    TitleChange::Generated(text) => (text, "AND title IS NULL"),
                };
                let changed = db
                    .prepare_cached(&format!(
                        "UPDATE session SET title = ?3
                         WHERE id = ?1 AND (user_id IS NULL OR user_id IS ?2) {unless}"
                    ))?
                    .execute(params![id.as_str(), user(&owner), text])?;
                Ok(WriteOutput::silent(changed > 0))
            })
            .await
    }

    async fn set_pinned(&self, owner: &Owner, id: &SessionId, pinned: bool) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                let changed = db
                    .prepare_cached(
                        "UPDATE session SET is_pinned = ?3
                         WHERE id = ?1 AND (user_id IS NULL OR user_id IS ?2)",
                    )?
                    .execute(params![id.as_str(), user(&owner), pinned])?;
                Ok(WriteOutput::silent(changed > 0))
            })
            .await
    }

    async fn assign(&self, to: &UserId, id: &SessionId) -> PortResult<SessionAssigned> {
        let (to, id) = (to.clone(), id.clone());
        self.writer
            .run(WritePriority::Ordinary, move |db| {
                let changed = db
                    .prepare_cached(
                        "UPDATE session SET user_id = ?2 WHERE id = ?1 AND user_id IS NULL",
                    )?
                    .execute([id.as_str(), to.as_str()])?;
                if changed > 0 {
                    return Ok(WriteOutput::silent(SessionAssigned::Done));
                }
                let already = db
                    .prepare_cached("SELECT 1 FROM session WHERE id = ?1 AND user_id = ?2")?
                    .exists([id.as_str(), to.as_str()])?;
                Ok(WriteOutput::silent(if already {
                    SessionAssigned::Already
                } else {
                    SessionAssigned::NotFound
                }))
            })
            .await
    }

    async fn delete(&self, owner: &Owner, id: &SessionId) -> PortResult<bool> {
        let (owner, id, now, caps) = (owner.clone(), id.clone(), self.store_time(), self.caps);
        // Essential, because it frees space.
        self.writer
            .run(WritePriority::Essential, move |db| {
                session_delete::delete(db, now, caps, &owner, &id)
            })
            .await
    }
}

fn create(
    db: &Connection,
    now: StoreTime,
    owner: &Owner,
    new: &NewSession,
) -> Result<WriteOutput<Session>, SqliteError> {
    let id = match &new.id {
        None => SessionId::fresh(),
        Some(chosen) => match find(db, owner, chosen)? {
            Some(session) => return Ok(WriteOutput::silent(session)),
            None => chosen.clone(),
        },
    };
    let metadata = serde_json::Value::Object(new.metadata.clone()).to_string();
    db.prepare_cached(
        "INSERT INTO session
             (id, user_id, dry_run, metadata, parent_session_id, depth, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
    )?
    .execute(params![
        id.as_str(),
        user(owner),
        new.dry_run,
        metadata,
        new.parent_session_id.as_ref().map(SessionId::as_str),
        new.depth,
        now.wall_us,
    ])
    .map_err(|error| match SqliteError::from(error) {
        error if error.is_constraint() => {
            SqliteError::broken("the id belongs to another user's session")
        }
        fault => fault,
    })?;
    let session = find(db, owner, &id)?
        .ok_or_else(|| SqliteError::broken("a new session cannot be found"))?;
    Ok(WriteOutput::silent(session))
}

/// The value to compare with `user_id`: an anonymous owner is NULL.
pub(crate) fn user(owner: &Owner) -> Option<&str> {
    owner.user().map(UserId::as_str)
}

/// The session, if this owner may see it: their own, or one without a user.
pub(crate) fn find(
    db: &Connection,
    owner: &Owner,
    id: &SessionId,
) -> Result<Option<Session>, SqliteError> {
    let found = db
        .prepare_cached(concat!(
            "SELECT ",
            session_columns!(),
            " FROM session AS s
             WHERE s.id = ?1 AND (s.user_id IS NULL OR s.user_id IS ?2)"
        ))?
        .query_row(params![id.as_str(), user(owner)], |row| session(row))
        .optional()?;
    Ok(found)
}

/// Whether a title contains every word of a search.
const TITLE_MATCHES: &str = "(?2 = '[]' OR NOT EXISTS (
    SELECT 1 FROM json_each(?2) AS word WHERE ifnull(s.title, '') NOT GLOB word.value))";

fn list(db: &Connection, user: &UserId, wanted: ListSessions) -> Result<SessionPage, SqliteError> {
    let globs = serde_json::json!(globs(&wanted.words)).to_string();
    let total: i64 = db
        .prepare_cached(&format!(
            "SELECT count(*) FROM session AS s WHERE s.user_id = ?1 AND {TITLE_MATCHES}"
        ))?
        .query_row([user.as_str(), &globs], |row| row.get(0))?;
    let pinned = if wanted.pinned_first { "s.is_pinned DESC," } else { "" };
    let sessions = db
        .prepare_cached(&format!(
            "SELECT {} FROM session AS s WHERE s.user_id = ?1 AND {TITLE_MATCHES}
             ORDER BY {pinned} s.updated_at DESC, s.rowid DESC LIMIT ?3 OFFSET ?4",
            session_columns!()
        ))?
        .query_map(params![user.as_str(), globs, wanted.limit, wanted.offset], |row| session(row))?
        .collect::<Result<_, _>>()?;
    Ok(SessionPage { sessions, total: total as u64 })
}
