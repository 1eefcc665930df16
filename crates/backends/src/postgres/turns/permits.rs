//! Concurrency permits: each quota key has a limited number. Turns that yielded theirs and want it back come first,
//! then waiting turns, both in the order they were accepted.

use deadpool_postgres::Pool;
use protocol::TurnId;
use protocol::limits::UserLimits;

use super::advisory_locks;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rules::permit_usage::PermitUsage;

/// Exact for as long as the quota key is locked.
pub(crate) async fn permit_usage(
    db: &PooledConnection,
    quota_key: &str,
) -> Result<PermitUsage, PostgresError> {
    let row = db
        .query_one(
            "SELECT count(*) FILTER (WHERE ordinal > 0) AS in_flight,
                 count(*) FILTER (WHERE admitted AND aside = 0) AS places
             FROM turn WHERE slot = $1 AND status IN ('queued', 'running')",
            &[&TextParam(quota_key)],
        )
        .await?;
    Ok(PermitUsage { in_flight: row.number("in_flight")?, permits: row.number("places")? })
}

/// Of each session only the first open turn may run, besides those outside the order. A resting turn waits for no
/// permit until its rest is over.
const ADMIT: &str = "\
    WITH room AS (
        SELECT greatest(0, $2 - count(*)) AS places FROM turn
        WHERE slot = $1 AND admitted AND aside = 0 AND status IN ('queued', 'running')),
    back AS (
        UPDATE turn SET aside = 0 WHERE id IN (
            SELECT id FROM turn
            WHERE slot = $1 AND admitted AND aside = 2 AND status IN ('queued', 'running')
            ORDER BY accepted LIMIT (SELECT places FROM room))
        RETURNING id),
    next AS (
        SELECT t.id, t.accepted FROM turn AS t
        WHERE t.slot = $1 AND t.status = 'queued' AND NOT t.admitted
          AND (t.rests_until IS NULL OR t.rests_until <= clock_timestamp())
          AND NOT EXISTS (
            SELECT 1 FROM turn AS o WHERE o.session_id = t.session_id AND o.ordinal > 0
              AND o.ordinal < t.ordinal AND o.status IN ('queued', 'running'))
        ORDER BY t.accepted
        LIMIT (SELECT places FROM room) - (SELECT count(*) FROM back)),
    admitted AS (
        UPDATE turn AS t SET admitted = true, rests_until = NULL, due = clock_timestamp()
        FROM next AS n WHERE t.id = n.id RETURNING t.id, n.accepted)
    SELECT id FROM admitted ORDER BY accepted";

/// Gives out the free permits of a locked quota key, makes the newly admitted turns due, and returns them.
pub(crate) async fn admit(
    db: &PooledConnection,
    caps: UserLimits,
    quota_key: &str,
) -> Result<Vec<TurnId>, PostgresError> {
    let found = db.query(ADMIT, &[&TextParam(quota_key), &i64::from(caps.running)]).await?;
    found.iter().map(|row| row.id("id")).collect()
}

pub(crate) async fn admit_for_keys(
    db: &PooledConnection,
    caps: UserLimits,
    quota_keys: &[String],
) -> Result<Vec<TurnId>, PostgresError> {
    let mut due = Vec::new();
    for quota_key in quota_keys {
        due.extend(admit(db, caps, quota_key).await?);
    }
    Ok(due)
}

/// Does the same for every quota key with waiting turns: permits may have become free while no process ran, or the
/// limits may have been raised.
pub(crate) async fn admit_all(pool: &Pool, caps: UserLimits) -> Result<(), PostgresError> {
    let db = PooledConnection::get(pool).await?;
    let found = db
        .query(
            "SELECT DISTINCT slot FROM turn
             WHERE status IN ('queued', 'running')
               AND (status = 'queued' AND NOT admitted OR aside = 2)",
            &[],
        )
        .await?;
    drop(db);
    for row in &found {
        let quota_key = row.text("slot")?;
        let db = PooledConnection::begin(pool).await?;
        advisory_locks::lock(&db, &quota_key).await?;
        admit(&db, caps, &quota_key).await?;
        db.commit().await?;
    }
    Ok(())
}
