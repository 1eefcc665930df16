//! Deletes a session with everything that belongs to it, and gives the concurrency permits of its open turns to others.

use ports::PortResult;
use protocol::session::Owner;
use protocol::{SessionId, TaskId};

use super::PostgresStore;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::sessions::user;
use super::text_param::TextParam;
use super::turns::advisory_locks;
use super::turns::permits::admit_for_keys;
use crate::rows::StoreRow;

/// Segments deleted by one statement, so that each stays well below the time limit of a call.
const BATCH: i64 = 5_000;

/// Statements that delete a session's data, besides its logs.
const PARTS: [&str; 8] = [
    "DELETE FROM journal WHERE turn_id IN (SELECT id FROM turn WHERE session_id = $1)",
    "DELETE FROM follow_up WHERE session_id = $1",
    "DELETE FROM operation WHERE session_id = $1",
    "DELETE FROM message WHERE session_id = $1",
    "UPDATE turn SET parent_turn_id = NULL
     WHERE parent_turn_id IN (SELECT id FROM turn WHERE session_id = $1)",
    "DELETE FROM turn WHERE session_id = $1",
    "UPDATE session SET parent_session_id = NULL WHERE parent_session_id = $1",
    "DELETE FROM session WHERE id = $1",
];

pub(crate) async fn delete(
    store: &PostgresStore,
    owner: &Owner,
    id: &SessionId,
) -> PortResult<bool> {
    // A long history is too much for one transaction. Its logs are deleted first, in batches: if that is interrupted,
    // the session still exists, its readers learn what is missing, and the deletion can be requested again.
    while store.write(remove_ended(store.clone(), owner.clone(), id.clone())).await? == BATCH {}
    let logs = store.write(remove(store.clone(), owner.clone(), id.clone())).await?;
    if let Some(logs) = &logs {
        store.feed.gone(logs);
    }
    Ok(logs.is_some())
}

/// Deletes one batch of segments of ended turns, and returns their number.
async fn remove_ended(
    store: PostgresStore,
    owner: Owner,
    id: SessionId,
) -> Result<i64, PostgresError> {
    let db = PooledConnection::get(&store.pool).await?;
    let row = db
        .query_one(
            "WITH piece AS (
                 SELECT g.log_id, g.first_seq FROM session AS s
                 JOIN turn AS t ON t.session_id = s.id JOIN log AS l ON l.task_id = t.id
                 JOIN segment AS g ON g.log_id = l.id
                 WHERE s.id = $1 AND (s.user_id IS NULL OR s.user_id = $2) AND l.sealed LIMIT $3),
             removed AS (
                 DELETE FROM segment AS g USING piece AS p
                 WHERE g.log_id = p.log_id AND g.first_seq = p.first_seq RETURNING g.log_id)
             SELECT count(*) AS pieces FROM removed",
            &[&TextParam(id.as_str()), &user(&owner), &BATCH],
        )
        .await?;
    row.integer("pieces")
}

/// Deletes the session. Returns its logs, or `None` when this owner has no such session.
async fn remove(
    store: PostgresStore,
    owner: Owner,
    id: SessionId,
) -> Result<Option<Vec<TaskId>>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let Some(quota_keys) = advisory_locks::lock_all(&db, &id).await? else {
        return end(&db, None).await;
    };
    let session = TextParam(id.as_str());
    let found = db
        .query_opt(
            "SELECT id FROM session WHERE id = $1 AND (user_id IS NULL OR user_id = $2) FOR UPDATE",
            &[&session, &user(&owner)],
        )
        .await?;
    if found.is_none() {
        return end(&db, None).await;
    }
    // Turns before their logs, as everywhere, so that a concurrent claim happens before or after.
    db.query("SELECT id FROM turn WHERE session_id = $1 ORDER BY ordinal FOR UPDATE", &[&session])
        .await?;
    // Locked before any of them is deleted, so that no concurrent append leaves a segment behind.
    let logs = db
        .query(
            "SELECT l.id, l.task_id FROM log AS l JOIN turn AS t ON t.id = l.task_id
             WHERE t.session_id = $1 FOR UPDATE OF l",
            &[&session],
        )
        .await?;
    let ids: Vec<i64> = logs.iter().map(|row| row.integer("id")).collect::<Result<_, _>>()?;
    let tasks = logs.iter().map(|row| row.id("task_id")).collect::<Result<_, _>>()?;
    db.query("DELETE FROM segment WHERE log_id = ANY($1)", &[&ids]).await?;
    db.query("DELETE FROM log WHERE id = ANY($1)", &[&ids]).await?;
    for part in PARTS {
        db.query(part, &[&session]).await?;
    }
    // The sweeper finds the turns that got the permits of turns that were still open.
    admit_for_keys(&db, store.caps, &quota_keys).await?;
    end(&db, Some(tasks)).await
}

async fn end<T>(db: &PooledConnection, value: T) -> Result<T, PostgresError> {
    db.commit().await?;
    Ok(value)
}
