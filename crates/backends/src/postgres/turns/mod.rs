//! Turns: accepted, journaled, ended.

mod aside;
mod at;
mod cancel;
mod finish;
pub(super) mod held;
pub(super) mod insert;
mod journal;
pub(super) mod known;
pub(super) mod open;
mod parent;
pub(super) mod places;
mod progress;
mod regenerate;
mod settle;
pub(super) mod slots;
mod usage;

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{
    JournalRecord, NewTurn, OpenTurns, TurnEnding, TurnFinished, TurnOpened, TurnProgress, Turns,
};
use ports::{Fenced, PortResult};
use protocol::session::Owner;
use protocol::turn::{Turn, TurnClaim};
use protocol::{SessionId, TurnId};

use self::at::Active;
use super::call::bounded;
use super::connection::Connection;
use super::fault::Fault;
use super::rows::{of_turn, turn_columns};
use super::sessions::user;
use super::text::Text;
use super::{Postgres, rows};

#[async_trait]
impl Turns for Postgres {
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened> {
        self.write(open::open(self.clone(), owner.clone(), new)).await
    }

    async fn get(&self, owner: &Owner, turn: &TurnId) -> PortResult<Option<Turn>> {
        self.read(|db| async move {
            let row = db
                .query_opt(
                    concat!(
                        "SELECT ",
                        turn_columns!(),
                        " FROM turn AS t",
                        of_turn!(),
                        "WHERE t.id = $1 AND (s.user_id IS NULL OR s.user_id = $2)"
                    ),
                    &[&Text(turn.as_str()), &user(owner)],
                )
                .await?;
            row.as_ref().map(rows::turn).transpose()
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
            let db = Connection::snapshot(&self.pool).await?;
            match progress::progress(&db, claim).await {
                Err(fault) if fault.is_lost_connection() => {
                    let db = Connection::snapshot(&self.pool).await?;
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
        self.write(aside::step_aside(self.clone(), claim.clone())).await
    }

    async fn step_back(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        self.write(aside::step_back(self.clone(), claim.clone())).await
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
            let since = rows::get::<Option<i64>>(&row, "since")?.unwrap_or(now);
            Ok(OpenTurns {
                queued: rows::number(&row, "queued")?,
                running: rows::number(&row, "running")?,
                oldest_queued: Duration::from_micros((now - since).max(0) as u64),
            })
        })
        .await
    }
}

/// The turn, whoever it belongs to.
async fn by_id(db: &Connection, id: &TurnId) -> Result<Option<Turn>, Fault> {
    let row = db
        .query_opt(
            concat!("SELECT ", turn_columns!(), " FROM turn AS t", of_turn!(), "WHERE t.id = $1"),
            &[&Text(id.as_str())],
        )
        .await?;
    row.as_ref().map(rows::turn).transpose()
}

/// The first turn in the order of the session that has no final status.
pub(super) async fn first_open(
    db: &Connection,
    session: &SessionId,
) -> Result<Option<Active>, Fault> {
    let row = db
        .query_opt(
            "SELECT id, cancel_requested FROM turn
             WHERE session_id = $1 AND ordinal > 0 AND status IN ('queued', 'running')
             ORDER BY ordinal LIMIT 1",
            &[&Text(session.as_str())],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let cancel_requested = rows::get(&row, "cancel_requested")?;
    Ok(Some(Active { id: rows::id(&row, "id")?, cancel_requested }))
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
    db: &Connection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Option<(Turn, Option<Duration>)>, Fault> {
    let row = db.query_opt(CURRENT, &[&Text(session.as_str()), &user(owner)]).await?;
    let Some(row) = row else { return Ok(None) };
    let ago: Option<f64> = rows::get(&row, "ended_ago")?;
    let ago = ago.map(|seconds| Duration::from_secs_f64(seconds.max(0.0)));
    Ok(Some((rows::turn(&row)?, ago)))
}
