//! Quota keys of turns, and the advisory locks that make counting exact: a transaction that adds a turn to a quota
//! key, removes one or changes its permit holds the key's lock until its end.
//!
//! A session without a user has its own quota key. It may be assigned to a user once, under the lock of its own key;
//! from then on its new turns count for the user, and its older ones still for the session. A transaction that needs
//! both locks takes the session's first; one that needs those of many sessions takes them in alphabetical order, which
//! gives the same order.

use protocol::{SessionId, TurnId, UserId};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;

/// Locks the quota key of a new turn of the session, and returns it. `None` when the session does not exist.
pub(crate) async fn lock_for_new(
    db: &PooledConnection,
    session: &SessionId,
) -> Result<Option<String>, PostgresError> {
    if let Some(Some(user)) = user_of(db, session).await? {
        let quota_key = user_key(&user);
        lock(db, &quota_key).await?;
        return Ok(Some(quota_key));
    }
    Ok(lock_all(db, session).await?.and_then(|mut quota_keys| quota_keys.pop()))
}

/// Locks the quota keys in which a change to this turn, above all its end, may free a permit. `None` when the turn
/// does not exist.
pub(crate) async fn lock_of(
    db: &PooledConnection,
    turn: &TurnId,
) -> Result<Option<Vec<String>>, PostgresError> {
    let row = db
        .query_opt(
            "SELECT t.slot, t.session_id, s.user_id FROM turn AS t
             JOIN session AS s ON s.id = t.session_id WHERE t.id = $1",
            &[&TextParam(turn.as_str())],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let quota_key = row.text("slot")?;
    let user: Option<UserId> = row.optional_id("user_id")?;
    if user.is_some_and(|user| user_key(&user) == quota_key) {
        lock(db, &quota_key).await?;
        return Ok(Some(vec![quota_key]));
    }
    lock_all(db, &row.id("session_id")?).await
}

/// Locks all quota keys of the session's turns; the current key is last.
pub(crate) async fn lock_all(
    db: &PooledConnection,
    session: &SessionId,
) -> Result<Option<Vec<String>>, PostgresError> {
    let mut quota_keys = vec![session_key(session)];
    lock(db, &quota_keys[0]).await?;
    let Some(user) = user_of(db, session).await? else { return Ok(None) };
    if let Some(user) = user {
        let quota_key = user_key(&user);
        lock(db, &quota_key).await?;
        quota_keys.push(quota_key);
    }
    Ok(Some(quota_keys))
}

/// Locks the quota keys of many sessions. In alphabetical order a session's key precedes any user's.
pub(crate) async fn lock_many(
    db: &PooledConnection,
    mut quota_keys: Vec<String>,
) -> Result<(), PostgresError> {
    quota_keys.sort();
    for quota_key in &quota_keys {
        lock(db, quota_key).await?;
    }
    Ok(())
}

pub(crate) async fn lock(db: &PooledConnection, quota_key: &str) -> Result<(), PostgresError> {
    db.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", &[&TextParam(quota_key)])
        .await?;
    Ok(())
}

pub(crate) fn session_key(session: &SessionId) -> String {
    format!("session:{session}")
}

fn user_key(user: &UserId) -> String {
    format!("user:{user}")
}

async fn user_of(
    db: &PooledConnection,
    session: &SessionId,
) -> Result<Option<Option<UserId>>, PostgresError> {
    let row = db
        .query_opt("SELECT user_id FROM session WHERE id = $1", &[&TextParam(session.as_str())])
        .await?;
    row.map(|row| row.optional_id("user_id")).transpose()
}
