//! The slots that turns count for, and the locks that make counting exact: whoever adds a turn to a slot, takes one out
//! or changes its place holds the slot's lock until the end of the transaction.
//!
//! A session without a user has a slot of its own. It may be given to a user once, under the lock of its own slot; from
//! then on its new turns count for the user, and its older ones still for itself. A transaction that needs both locks
//! takes the session's first; one that needs those of many sessions takes them in the order of their names, which is the
//! same order.

use protocol::{SessionId, TurnId, UserId};

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::text::Text;

/// Locks what a new turn of the session will count for, and names it. `None`: there is no such session.
pub(in super::super) async fn lock_for_new(
    db: &Connection,
    session: &SessionId,
) -> Result<Option<String>, Fault> {
    if let Some(Some(user)) = user_of(db, session).await? {
        let slot = of_user(&user);
        lock(db, &slot).await?;
        return Ok(Some(slot));
    }
    Ok(lock_all(db, session).await?.and_then(|mut slots| slots.pop()))
}

/// Locks the slots in which a change to this turn, its end above all, may make room. `None`: the turn is gone.
pub(in super::super) async fn lock_of(
    db: &Connection,
    turn: &TurnId,
) -> Result<Option<Vec<String>>, Fault> {
    let row = db
        .query_opt(
            "SELECT t.slot, t.session_id, s.user_id FROM turn AS t
             JOIN session AS s ON s.id = t.session_id WHERE t.id = $1",
            &[&Text(turn.as_str())],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let slot: String = rows::get(&row, "slot")?;
    let user: Option<UserId> = rows::optional_id(&row, "user_id")?;
    if user.is_some_and(|user| of_user(&user) == slot) {
        lock(db, &slot).await?;
        return Ok(Some(vec![slot]));
    }
    lock_all(db, &rows::id(&row, "session_id")?).await
}

/// Locks all that turns of the session may count for, the present slot last.
pub(in super::super) async fn lock_all(
    db: &Connection,
    session: &SessionId,
) -> Result<Option<Vec<String>>, Fault> {
    let mut slots = vec![of_session(session)];
    lock(db, &slots[0]).await?;
    let Some(user) = user_of(db, session).await? else { return Ok(None) };
    if let Some(user) = user {
        let slot = of_user(&user);
        lock(db, &slot).await?;
        slots.push(slot);
    }
    Ok(Some(slots))
}

/// Locks the slots of many sessions. A session's own comes before any user's by its name.
pub(super) async fn lock_many(db: &Connection, mut slots: Vec<String>) -> Result<(), Fault> {
    slots.sort();
    for slot in &slots {
        lock(db, slot).await?;
    }
    Ok(())
}

pub(in super::super) async fn lock(db: &Connection, slot: &str) -> Result<(), Fault> {
    db.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", &[&Text(slot)]).await?;
    Ok(())
}

pub(in super::super) fn of_session(session: &SessionId) -> String {
    format!("session:{session}")
}

fn of_user(user: &UserId) -> String {
    format!("user:{user}")
}

async fn user_of(db: &Connection, session: &SessionId) -> Result<Option<Option<UserId>>, Fault> {
    let row = db
        .query_opt("SELECT user_id FROM session WHERE id = $1", &[&Text(session.as_str())])
        .await?;
    row.map(|row| rows::optional_id(&row, "user_id")).transpose()
}
