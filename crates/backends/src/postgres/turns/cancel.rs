//! Cancelling a session: its turns, and all that they have started.

use protocol::SessionId;
use protocol::session::Owner;
use protocol::turn::Turn;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::rows::{of_turn, turn_columns};
use super::super::sessions::user;
use super::super::text::Text;
use super::slots;

/// Every turn of the session and every turn that one of them has started, over any number of hops. One that has ended
/// may have left others at work, so the way leads through those that have ended as well.
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

/// Whoever rests has to be ended now.
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

pub(super) async fn request_cancel(
    store: Postgres,
    owner: Owner,
    session: SessionId,
) -> Result<Vec<Turn>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let turns = cancel(&db, &owner, &session).await?;
    db.commit().await?;
    Ok(turns)
}

async fn cancel(db: &Connection, owner: &Owner, session: &SessionId) -> Result<Vec<Turn>, Fault> {
    let session = Text(session.as_str());
    // Who ends a turn of the tree gives its place to another one of it, so both must not lock them in their own order.
    let slots = db.query(SLOTS, &[&session]).await?;
    let slots = slots.iter().map(|row| rows::get(row, "slot")).collect::<Result<Vec<_>, _>>()?;
    slots::lock_many(db, slots).await?;
    let found = db
        .query_opt(
            "SELECT id FROM session WHERE id = $1 AND (user_id IS NULL OR user_id = $2) FOR UPDATE",
            &[&session, &user(owner)],
        )
        .await?;
    if found.is_none() {
        return Ok(Vec::new());
    }
    // A child that was being opened when its parent was marked is seen only by the next look. Whoever opens one locks
    // its parent, so after a look that finds nothing more none can come.
    while !db.query(MARK, &[&session]).await?.is_empty() {}
    let turns = db.query(CANCELLED, &[&session]).await?;
    turns.iter().map(rows::turn).collect()
}
