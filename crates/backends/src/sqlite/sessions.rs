//! Sessions and who they belong to.

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{Assigned, ListSessions, NewSession, SessionPage, Sessions, Title};
use protocol::limits::Caps;
use protocol::session::{Owner, Session};
use protocol::{SessionId, TaskId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::job::{Done, Need};
use super::turns::places::admit;
use super::{Moment, Sqlite, log_read, rows};
use crate::live::News;

#[async_trait]
impl Sessions for Sqlite {
    async fn create(&self, owner: &Owner, new: NewSession) -> PortResult<Session> {
        let (owner, now) = (owner.clone(), self.moment());
        self.writer
            .run(Need::Ordinary, move |db| {
                let id = SessionId::fresh();
                let metadata = serde_json::Value::Object(new.metadata.clone()).to_string();
                db.prepare_cached(
                    "INSERT INTO session
                         (id, user_id, dry_run, metadata, parent_session_id, created_at, updated_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                )?
                .execute(params![
                    id.as_str(),
                    user(&owner),
                    new.dry_run,
                    metadata,
                    new.parent_session_id.as_ref().map(SessionId::as_str),
                    now.wall_us,
                ])?;
                let session = find(db, &owner, &id)?
                    .ok_or_else(|| Fault::broken("a new session cannot be found"))?;
                Ok(Done::quietly(session))
            })
            .await
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

    async fn set_title(&self, owner: &Owner, id: &SessionId, title: Title) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        self.writer
            .run(Need::Ordinary, move |db| {
                let (text, unless) = match &title {
                    Title::ByUser(text) => (text, ""),
                    Title::Generated(text) => (text, "AND title IS NULL"),
                };
                let changed = db
                    .prepare_cached(&format!(
                        "UPDATE session SET title = ?3
                         WHERE id = ?1 AND (user_id IS NULL OR user_id IS ?2) {unless}"
                    ))?
                    .execute(params![id.as_str(), user(&owner), text])?;
                Ok(Done::quietly(changed > 0))
            })
            .await
    }

    async fn set_pinned(&self, owner: &Owner, id: &SessionId, pinned: bool) -> PortResult<bool> {
        let (owner, id) = (owner.clone(), id.clone());
        self.writer
            .run(Need::Ordinary, move |db| {
                let changed = db
                    .prepare_cached(
                        "UPDATE session SET is_pinned = ?3
                         WHERE id = ?1 AND (user_id IS NULL OR user_id IS ?2)",
                    )?
                    .execute(params![id.as_str(), user(&owner), pinned])?;
                Ok(Done::quietly(changed > 0))
            })
            .await
    }

    async fn assign(&self, to: &UserId, id: &SessionId) -> PortResult<Assigned> {
        let (to, id) = (to.clone(), id.clone());
        self.writer
            .run(Need::Ordinary, move |db| {
                let changed = db
                    .prepare_cached(
                        "UPDATE session SET user_id = ?2 WHERE id = ?1 AND user_id IS NULL",
                    )?
                    .execute([id.as_str(), to.as_str()])?;
                if changed > 0 {
                    return Ok(Done::quietly(Assigned::Done));
                }
                let already = db
                    .prepare_cached("SELECT 1 FROM session WHERE id = ?1 AND user_id = ?2")?
                    .exists([id.as_str(), to.as_str()])?;
                Ok(Done::quietly(if already { Assigned::Already } else { Assigned::NotFound }))
            })
            .await
    }

    async fn delete(&self, owner: &Owner, id: &SessionId) -> PortResult<bool> {
        let (owner, id, now, caps) = (owner.clone(), id.clone(), self.moment(), self.caps);
        // Essential, because it makes room.
        self.writer.run(Need::Essential, move |db| delete(db, now, caps, &owner, &id)).await
    }
}

/// How an owner is compared with `user_id`: nobody is NULL.
pub(super) fn user(owner: &Owner) -> Option<&str> {
    owner.user().map(UserId::as_str)
}

/// The session, if this owner may see it: their own, or one that belongs to nobody yet.
pub(super) fn find(
    db: &Connection,
    owner: &Owner,
    id: &SessionId,
) -> Result<Option<Session>, Fault> {
    let found = db
        .prepare_cached(&format!(
            "SELECT {} FROM session AS s
             WHERE s.id = ?1 AND (s.user_id IS NULL OR s.user_id IS ?2)",
            rows::SESSION
        ))?
        .query_row(params![id.as_str(), user(owner)], rows::session)
        .optional()?;
    Ok(found)
}

fn list(db: &Connection, user: &UserId, wanted: ListSessions) -> Result<SessionPage, Fault> {
    let total: i64 = db
        .prepare_cached("SELECT count(*) FROM session WHERE user_id = ?1")?
        .query_row([user.as_str()], |row| row.get(0))?;
    let pinned = if wanted.pinned_first { "s.is_pinned DESC," } else { "" };
    let sessions = db
        .prepare_cached(&format!(
            "SELECT {} FROM session AS s WHERE s.user_id = ?1
             ORDER BY {pinned} s.updated_at DESC, s.rowid DESC LIMIT ?2 OFFSET ?3",
            rows::SESSION
        ))?
        .query_map(params![user.as_str(), wanted.limit, wanted.offset], rows::session)?
        .collect::<Result<_, _>>()?;
    Ok(SessionPage { sessions, total: total as u64 })
}

fn delete(
    db: &Connection,
    now: Moment,
    caps: Caps,
    owner: &Owner,
    id: &SessionId,
) -> Result<Done<bool>, Fault> {
    if find(db, owner, id)?.is_none() {
        return Ok(Done::quietly(false));
    }
    let id = id.as_str();
    let slots: Vec<String> = db
        .prepare_cached(
            "SELECT DISTINCT slot FROM turn
             WHERE session_id = ?1 AND status IN ('queued', 'running')",
        )?
        .query_map([id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let logs: Vec<(i64, TaskId)> = db
        .prepare_cached(
            "SELECT l.id, l.task_id FROM log AS l JOIN turn AS t ON t.id = l.task_id
             WHERE t.session_id = ?1",
        )?
        .query_map([id], |row| Ok((row.get(0)?, rows::id(row, "task_id")?)))?
        .collect::<Result<_, _>>()?;
    for (log, _) in &logs {
        db.prepare_cached("DELETE FROM segment WHERE position >= ?1 AND position < ?2")?
            .execute([log_read::position(*log, 0), log_read::position(*log + 1, 0)])?;
        db.prepare_cached("DELETE FROM log WHERE id = ?1")?.execute([log])?;
    }
    for statement in [
        "DELETE FROM journal WHERE turn_id IN (SELECT id FROM turn WHERE session_id = ?1)",
        "DELETE FROM message WHERE session_id = ?1",
        "DELETE FROM turn WHERE session_id = ?1",
        "UPDATE session SET parent_session_id = NULL WHERE parent_session_id = ?1",
        "DELETE FROM session WHERE id = ?1",
    ] {
        db.prepare_cached(statement)?.execute([id])?;
    }
    // The places of turns that were still open are free now; the sweeper finds who got them.
    for slot in slots {
        admit(db, now, caps, &slot)?;
    }
    let tasks = logs.into_iter().map(|(_, task)| task).collect();
    Ok(Done::with(true, News::LogsGone(tasks)))
}
