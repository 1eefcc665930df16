//! Cancels a session: its turns, and everything they have started.

use protocol::SessionId;
use protocol::session::Owner;
use protocol::turn::Turn;

use super::advisory_locks;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::sessions::user;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::turns::{of_turn, turn, turn_columns};

/// Every turn of the session and every turn started by one of them, at any depth. An ended turn may have started
/// others that still run, so the traversal includes ended turns.
macro_rules! tree {
    () => {
        "WITH RECURSIVE tree (id, level) AS (
             SELECT id, 0 FROM turn WHERE session_id = $1
             UNION
             SELECT c.id, b.level + 1 FROM tree AS b JOIN turn AS c ON c.parent_turn_id = b.id) "
    };
}

const SLOTS: &str = concat!(
    tree!(),
    "SELECT DISTINCT t.slot FROM tree AS b JOIN turn AS t ON t.id = b.id
     WHERE t.status IN ('queued', 'running')"
);

/// A resting turn becomes due, so that it is ended now.
const MARK: &str = concat!(
    tree!(),
    "UPDATE turn AS t SET cancel_requested = true, rests_until = NULL,
         due = CASE WHEN t.rests_until IS NULL THEN t.due ELSE clock_timestamp() END
     WHERE t.id IN (SELECT id FROM tree) AND t.status IN ('queued', 'running')
       AND NOT t.cancel_requested
     RETURNING t.id"
);

const CANCELLED: &str = concat!(
    tree!(),
    "SELECT ",
    turn_columns!(),
    " FROM (SELECT id, min(level) AS level FROM tree GROUP BY id) AS b
     JOIN turn AS t ON t.id = b.id",
    of_turn!(),
    "WHERE t.status IN ('queued', 'running') ORDER BY b.level, t.accepted"
);

pub(crate) async fn request_cancel(
    store: PostgresStore,
    owner: Owner,
    session: SessionId,
) -> Result<Vec<Turn>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let turns = cancel(&db, &owner, &session).await?;
    db.commit().await?;
    Ok(turns)
}

async fn cancel(
    db: &PooledConnection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Vec<Turn>, PostgresError> {
    let session = TextParam(session.as_str());
    // Finishing a turn of the tree passes its permit to another one of the tree, so both operations must take the
    // locks in the same order.
    let quota_keys = db.query(SLOTS, &[&session]).await?;
    let quota_keys =
        quota_keys.iter().map(|row| row.text("slot")).collect::<Result<Vec<_>, _>>()?;
    advisory_locks::lock_many(db, quota_keys).await?;
    let found = db
        .query_opt(
            "SELECT id FROM session WHERE id = $1 AND (user_id IS NULL OR user_id = $2) FOR UPDATE",
            &[&session, &user(owner)],
        )
        .await?;
    if found.is_none() {
        return Ok(Vec::new());
    }
    // A sub-turn that was being opened when its parent was marked is visible only to the next pass. Opening one locks
    // its parent, so after a pass that finds nothing no more can appear.
    while !db.query(MARK, &[&session]).await?.is_empty() {}
    let turns = db.query(CANCELLED, &[&session]).await?;
    turns.iter().map(turn).collect()
}
