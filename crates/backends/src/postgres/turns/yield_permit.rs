//! Yields a turn's concurrency permit while the turn waits for other work, and reacquires it.

use ports::Fenced;
use protocol::TurnId;
use protocol::turn::TurnClaim;

use super::advisory_locks;
use super::permits::admit_for_keys;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rules::fenced_writes::fenced;

pub(crate) async fn yield_permit(
    store: PostgresStore,
    claim: TurnClaim,
) -> Result<Fenced<Vec<TurnId>>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let due = try_yield(&db, &store, &claim).await?;
    db.commit().await?;
    Ok(fenced(due))
}

pub(crate) async fn reacquire_permit(
    store: PostgresStore,
    claim: TurnClaim,
) -> Result<Fenced<bool>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let reacquired = try_reacquire(&db, &store, &claim).await?;
    db.commit().await?;
    Ok(fenced(reacquired))
}

async fn try_yield(
    db: &PooledConnection,
    store: &PostgresStore,
    claim: &TurnClaim,
) -> Result<Option<Vec<TurnId>>, PostgresError> {
    let Some(quota_keys) = advisory_locks::lock_of(db, &claim.turn_id).await? else {
        return Ok(None);
    };
    let (turn, fence) = (TextParam(claim.turn_id.as_str()), claim.fence as i64);
    let stepped = db
        .query_opt(
            "UPDATE turn SET aside = 1 WHERE id = $1 AND fence = $2 AND status = 'running'
             RETURNING id",
            &[&turn, &fence],
        )
        .await?;
    match stepped {
        Some(_) => Ok(Some(admit_for_keys(db, store.caps, &quota_keys).await?)),
        None => Ok(None),
    }
}

async fn try_reacquire(
    db: &PooledConnection,
    store: &PostgresStore,
    claim: &TurnClaim,
) -> Result<Option<bool>, PostgresError> {
    let Some(quota_keys) = advisory_locks::lock_of(db, &claim.turn_id).await? else {
        return Ok(None);
    };
    let (turn, fence) = (TextParam(claim.turn_id.as_str()), claim.fence as i64);
    // A turn that was claimed without a permit is cancelled and needs none.
    let wants_permit = db
        .query_opt(
            "UPDATE turn SET aside = CASE WHEN aside = 0 OR NOT admitted THEN 0 ELSE 2 END
             WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING aside <> 0 AS wants",
            &[&turn, &fence],
        )
        .await?;
    let Some(wants_permit) = wants_permit else { return Ok(None) };
    if !wants_permit.flag("wants")? {
        return Ok(Some(true));
    }
    admit_for_keys(db, store.caps, &quota_keys).await?;
    let row = db.query_one("SELECT aside = 0 AS back FROM turn WHERE id = $1", &[&turn]).await?;
    Ok(Some(row.flag("back")?))
}
