//! Turns: opened, journaled, finished.

pub(crate) mod advisory_locks;
mod background_calls;
mod cancel;
pub(crate) mod claim;
pub(crate) mod claimed_rows;
mod finish;
pub(crate) mod insert;
mod journal;
pub(crate) mod message_id;
pub(crate) mod open;
mod parent;
pub(crate) mod permits;
mod position;
mod progress;
mod regenerate;
mod settle;
mod usage;
mod yield_permit;

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{
    JournalRecord, NewTurn, OpenTurns, TurnEnding, TurnFinished, TurnOpened, TurnProgress, Turns,
};
use ports::{Fenced, PortResult};
use protocol::session::Owner;
use protocol::turn::{Turn, TurnClaim};
use protocol::{SessionId, TurnId};

use self::position::ActiveTurn;
use super::PostgresStore;
use super::bounded_call::bounded;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::sessions::user;
use super::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::reports::open_turns;
use crate::rows::turns::{of_turn, select_turns, turn, turn_columns};

#[async_trait]
impl Turns for PostgresStore {
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened> {
        self.write(open::open(self.clone(), owner.clone(), new)).await
    }

    async fn get(&self, owner: &Owner, turn_id: &TurnId) -> PortResult<Option<Turn>> {
        self.read(|db| async move {
            let row = db
                .query_opt(
                    concat!(
                        select_turns!(),
                        "WHERE t.id = $1 AND (s.user_id IS NULL OR s.user_id = $2)"
                    ),
                    &[&TextParam(turn_id.as_str()), &user(owner)],
                )
                .await?;
            row.as_ref().map(turn).transpose()
        })
        .await
    }

    async fn current(
        &self,
        owner: &Owner,
        session: &SessionId,
    ) -> PortResult<Option<(Turn, Option<Duration>)>> {
        self.read(|db| async move { current(&db, owner, session).await }).await
    }

    async fn request_cancel(&self, owner: &Owner, session: &SessionId) -> PortResult<Vec<Turn>> {
        self.write(cancel::request_cancel(self.clone(), owner.clone(), session.clone())).await
    }

    async fn progress(&self, claim: &TurnClaim) -> PortResult<Fenced<TurnProgress>> {
        let reading = async {
            let db = PooledConnection::snapshot(&self.pool).await?;
            match progress::progress(&db, claim).await {
                Err(fault) if fault.is_lost_connection() => {
                    let db = PooledConnection::snapshot(&self.pool).await?;
                    progress::progress(&db, claim).await
                }
                read => read,
            }
        };
        Ok(bounded(reading).await?)
    }

    async fn record(&self, claim: &TurnClaim, record: JournalRecord) -> PortResult<Fenced<()>> {
        self.write(journal::record(self.clone(), claim.clone(), record)).await
    }

    async fn finish(
        &self,
        claim: &TurnClaim,
        ending: TurnEnding,
    ) -> PortResult<Fenced<TurnFinished>> {
        self.write(finish::finish(self.clone(), claim.clone(), ending)).await
    }

    async fn step_aside(&self, claim: &TurnClaim) -> PortResult<Fenced<Vec<TurnId>>> {
        self.write(yield_permit::yield_permit(self.clone(), claim.clone())).await
    }

    async fn step_back(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        self.write(yield_permit::reacquire_permit(self.clone(), claim.clone())).await
    }

    async fn count_open(&self) -> PortResult<OpenTurns> {
        let now = self.wall_us();
        self.read(|db| async move {
            let row = db
                .query_one(
                    "SELECT count(*) FILTER (WHERE status = 'queued') AS queued,
                         count(*) FILTER (WHERE status = 'running') AS running,
                         min(created_at) FILTER (WHERE status = 'queued') AS since
                     FROM turn WHERE status IN ('queued', 'running') AND ordinal > 0",
                    &[],
                )
                .await?;
            open_turns(&row, now)
        })
        .await
    }
}

/// The turn, regardless of its owner.
async fn by_id(db: &PooledConnection, id: &TurnId) -> Result<Option<Turn>, PostgresError> {
    let row = db
        .query_opt(concat!(select_turns!(), "WHERE t.id = $1"), &[&TextParam(id.as_str())])
        .await?;
    row.as_ref().map(turn).transpose()
}

/// The first turn in the order of the session without a final status.
pub(crate) async fn first_open(
    db: &PooledConnection,
    session: &SessionId,
) -> Result<Option<ActiveTurn>, PostgresError> {
    let row = db
        .query_opt(
            "SELECT id, cancel_requested FROM turn
             WHERE session_id = $1 AND ordinal > 0 AND status IN ('queued', 'running')
             ORDER BY ordinal LIMIT 1",
            &[&TextParam(session.as_str())],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let cancel_requested = row.flag("cancel_requested")?;
    Ok(Some(ActiveTurn { id: row.id("id")?, cancel_requested }))
}

/// Turns end in the order of their ordinals, so the last of them ended last.
const CURRENT: &str = concat!(
    "SELECT ",
    turn_columns!(),
    ", extract(epoch FROM clock_timestamp() - t.ended)::float8 AS ended_ago
     FROM turn AS t",
    of_turn!(),
    "WHERE t.session_id = $1 AND (s.user_id IS NULL OR s.user_id = $2) AND t.ordinal = coalesce(
         (SELECT min(o.ordinal) FROM turn AS o
          WHERE o.session_id = $1 AND o.ordinal > 0 AND o.status IN ('queued', 'running')),
         (SELECT max(e.ordinal) FROM turn AS e WHERE e.session_id = $1 AND e.ordinal > 0))"
);

async fn current(
    db: &PooledConnection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Option<(Turn, Option<Duration>)>, PostgresError> {
    let row = db.query_opt(CURRENT, &[&TextParam(session.as_str()), &user(owner)]).await?;
    let Some(row) = row else { return Ok(None) };
    let ago: Option<f64> = row.try_get("ended_ago")?;
    let ago = ago.map(|seconds| Duration::from_secs_f64(seconds.max(0.0)));
    Ok(Some((turn(&row)?, ago)))
}
