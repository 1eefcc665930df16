//! A session's end: everything it kept goes with it, and the places of its open turns go to others.

use ports::PortResult;
use protocol::session::Owner;
use protocol::{SessionId, TaskId};

use super::connection::Connection;
use super::fault::Fault;
use super::sessions::user;
use super::text::Text;
use super::turns::places::admit_in;
use super::turns::slots;
use super::{Postgres, rows};

/// Segments that are removed in one statement, so that each keeps well below the bound of a call.
const PIECE: i64 = 5_000;

/// What a session consists of, besides its logs.
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

pub(super) async fn delete(store: &Postgres, owner: &Owner, id: &SessionId) -> PortResult<bool> {
    // A long history is too much for one transaction. Its logs go first, piece by piece: should that be cut short,
    // the session is still there, its readers are told what is missing, and the deletion can be asked for again.
    while store.write(remove_ended(store.clone(), owner.clone(), id.clone())).await? == PIECE {}
    let logs = store.write(remove(store.clone(), owner.clone(), id.clone())).await?;
    if let Some(logs) = &logs {
        store.feed.gone(logs);
    }
    Ok(logs.is_some())
}

/// Removes a piece of what the turns that are over have streamed, and says how many segments it was.
async fn remove_ended(store: Postgres, owner: Owner, id: SessionId) -> Result<i64, Fault> {
    let db = Connection::get(&store.pool).await?;
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
            &[&Text(id.as_str()), &user(&owner), &PIECE],
        )
        .await?;
    rows::get(&row, "pieces")
}

/// Removes the session. Gives its logs, or nothing when there is no such session of this owner.
async fn remove(
    store: Postgres,
    owner: Owner,
    id: SessionId,
) -> Result<Option<Vec<TaskId>>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let Some(slots) = slots::lock_all(&db, &id).await? else { return end(&db, None).await };
    let session = Text(id.as_str());
    let found = db
        .query_opt(
            "SELECT id FROM session WHERE id = $1 AND (user_id IS NULL OR user_id = $2) FOR UPDATE",
            &[&session, &user(&owner)],
        )
        .await?;
    if found.is_none() {
        return end(&db, None).await;
    }
    // The turns before their logs, as everywhere, so that a claim at this moment comes before or after.
    db.query("SELECT id FROM turn WHERE session_id = $1 ORDER BY ordinal FOR UPDATE", &[&session])
        .await?;
    // Locked before anything of them is removed, so that no append can slip in between and leave a segment behind.
    let logs = db
        .query(
            "SELECT l.id, l.task_id FROM log AS l JOIN turn AS t ON t.id = l.task_id
             WHERE t.session_id = $1 FOR UPDATE OF l",
            &[&session],
        )
        .await?;
    let ids: Vec<i64> = logs.iter().map(|row| rows::get(row, "id")).collect::<Result<_, _>>()?;
    let tasks = logs.iter().map(|row| rows::id(row, "task_id")).collect::<Result<_, _>>()?;
    db.query("DELETE FROM segment WHERE log_id = ANY($1)", &[&ids]).await?;
    db.query("DELETE FROM log WHERE id = ANY($1)", &[&ids]).await?;
    for part in PARTS {
        db.query(part, &[&session]).await?;
    }
    // The sweeper finds who got the places of turns that were still open.
    admit_in(&db, store.caps, &slots).await?;
    end(&db, Some(tasks)).await
}

async fn end<T>(db: &Connection, value: T) -> Result<T, Fault> {
    db.commit().await?;
    Ok(value)
}
