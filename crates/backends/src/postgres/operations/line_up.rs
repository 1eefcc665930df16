//! Moves the turn of an operation to the end of its session's order, to continue the conversation.

use ports::Fenced;
use protocol::turn::TurnClaim;

use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::postgres::turns::claimed_rows::{self, ClaimedRows};
use crate::postgres::turns::permits::admit_for_keys;
use crate::postgres::turns::{advisory_locks, first_open};

pub(crate) async fn line_up(
    store: PostgresStore,
    claim: TurnClaim,
) -> Result<Fenced<bool>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let lined_up = join(&db, &store, &claim).await?;
    db.commit().await?;
    Ok(lined_up)
}

async fn join(
    db: &PooledConnection,
    store: &PostgresStore,
    claim: &TurnClaim,
) -> Result<Fenced<bool>, PostgresError> {
    let Some(quota_keys) = advisory_locks::lock_of(db, &claim.turn_id).await? else {
        return Ok(Fenced::Stale);
    };
    let Some(claimed) = claimed_rows::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    // A turn that was claimed in the order of its session is the first of it.
    if claimed.ordinal > 0 {
        return Ok(Fenced::Done(true));
    }
    check_ended(db, claim).await?;
    let before = first_open(db, &claim.session_id).await?;
    take_ordinal(db, claim, &claimed).await?;
    if before.is_none() {
        return Ok(Fenced::Done(true));
    }
    db.query(
        "UPDATE turn SET status = 'queued', worker = NULL, lease_until = NULL, due = NULL,
             attempt = greatest(0, attempt - 1), admitted = false, aside = 0 WHERE id = $1",
        &[&TextParam(claim.turn_id.as_str())],
    )
    .await?;
    admit_for_keys(db, store.caps, &quota_keys).await?;
    Ok(Fenced::Done(false))
}

async fn check_ended(db: &PooledConnection, claim: &TurnClaim) -> Result<(), PostgresError> {
    let ended = db
        .query_opt(
            "SELECT id FROM operation WHERE turn_id = $1 AND state = 'ended'",
            &[&TextParam(claim.turn_id.as_str())],
        )
        .await?;
    match ended {
        Some(_) => Ok(()),
        None => Err(PostgresError::broken("an operation without a result cannot line up")),
    }
}

/// Moves the turn with the messages it has written so far.
async fn take_ordinal(
    db: &PooledConnection,
    claim: &TurnClaim,
    claimed: &ClaimedRows,
) -> Result<(), PostgresError> {
    let (session, turn) = (TextParam(claim.session_id.as_str()), TextParam(claim.turn_id.as_str()));
    let ordinal = claimed.last_ordinal + 1;
    db.query("UPDATE session SET last_ordinal = $2 WHERE id = $1", &[&session, &ordinal]).await?;
    db.query("UPDATE turn SET ordinal = $2 WHERE id = $1", &[&turn, &ordinal]).await?;
    db.query(
        "UPDATE message SET ordinal = $3 WHERE session_id = $1 AND turn_id = $2",
        &[&session, &turn, &ordinal],
    )
    .await?;
    Ok(())
}
