//! Turns to push to the queue. Kept in a column of the turn itself, so that every change of a turn updates it.

use std::time::Duration;

use async_trait::async_trait;
use ports::{Outbox, PortResult};
use protocol::TurnId;
use tokio_postgres::Row;

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::leases::seconds;
use super::text_param::TextParam;
use super::{PostgresStore, rows};

// `statement_timestamp()` is constant within the statement, so the index on `due` can be used; it is also the
// database's clock.
const FIND_DUE: &str =
    "SELECT id FROM turn WHERE due <= statement_timestamp() ORDER BY due, accepted LIMIT $1";

/// Skips rows that another relay is taking, so each turn is given to one relay.
const TAKE: &str = "\
    WITH found AS (
        SELECT id, due, accepted FROM turn WHERE due <= statement_timestamp()
        ORDER BY due, accepted LIMIT $1 FOR UPDATE SKIP LOCKED),
    taken AS (
        UPDATE turn AS t SET due = clock_timestamp() + $2 * interval '1 second'
        FROM found AS f WHERE t.id = f.id RETURNING t.id, f.due, f.accepted)
    SELECT id FROM taken ORDER BY due, accepted";

/// A turn that was claimed or ended meanwhile has left the outbox and stays out. A row that another transaction is
/// changing is skipped: at worst it is pushed once more. A resting turn is due when its rest is over.
const PUSHED: &str = "\
    WITH found AS (
        SELECT id FROM turn
        WHERE id = ANY($1) AND due IS NOT NULL
          AND (rests_until IS NULL OR rests_until <= statement_timestamp())
          AND (status = 'queued' OR status = 'running' AND lease_until <= statement_timestamp())
        FOR UPDATE SKIP LOCKED)
    UPDATE turn AS t SET due = clock_timestamp() + $2 * interval '1 second'
    FROM found AS f WHERE t.id = f.id";

#[async_trait]
impl Outbox for PostgresStore {
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<TurnId>> {
        let limit = i64::from(limit);
        if hold.is_zero() {
            return self.read(|db| async move { ids(&db.query(FIND_DUE, &[&limit]).await?) }).await;
        }
        let pool = self.pool.clone();
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            ids(&db.query(TAKE, &[&limit, &seconds(hold)]).await?)
        })
        .await
    }

    async fn pushed(&self, turns: &[TurnId], again_in: Duration) -> PortResult<()> {
        let (pool, turns) = (self.pool.clone(), turns.to_vec());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let turns: Vec<TextParam<'_>> =
                turns.iter().map(|turn| TextParam(turn.as_str())).collect();
            db.query(PUSHED, &[&turns, &seconds(again_in)]).await?;
            Ok(())
        })
        .await
    }

    async fn lag(&self) -> PortResult<(u64, Duration)> {
        self.read(|db| async move {
            let row = db
                .query_one(
                    "SELECT count(*) AS waiting,
                         coalesce(extract(epoch FROM clock_timestamp() - min(due)), 0)::float8 AS oldest
                     FROM turn WHERE due <= statement_timestamp()",
                    &[],
                )
                .await?;
            let oldest: f64 = rows::get(&row, "oldest")?;
            Ok((rows::number(&row, "waiting")?, Duration::from_secs_f64(oldest.max(0.0))))
        })
        .await
    }
}

fn ids(found: &[Row]) -> Result<Vec<TurnId>, PostgresError> {
    found.iter().map(|row| rows::id(row, "id")).collect()
}
