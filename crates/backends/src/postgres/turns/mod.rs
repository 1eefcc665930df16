//! Turns: accepted, journaled, ended.

mod finish;
mod held;
mod insert;
mod journal;
mod open;
pub(super) mod places;
mod progress;
mod regenerate;
pub(super) mod slots;
mod usage;

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{Ending, NewTurn, OpenTurns, Opened, Progress, Record, Turns};
use ports::{Fenced, PortResult};
use protocol::session::Owner;
use protocol::turn::{Claim, Turn};
use protocol::{SessionId, TurnId};

use super::call::bounded;
use super::connection::Connection;
use super::fault::Fault;
use super::rows::turn_columns;
use super::sessions::user;
use super::text::Text;
use super::{Postgres, rows};

#[async_trait]
impl Turns for Postgres {
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<Opened> {
        self.write(open::open(self.clone(), owner.clone(), new)).await
    }

    async fn get(&self, owner: &Owner, turn: &TurnId) -> PortResult<Option<Turn>> {
        self.read(|db| async move {
            let row = db
                .query_opt(
                    concat!(
                        "SELECT ",
                        turn_columns!(),
                        " FROM turn AS t JOIN session AS s ON s.id = t.session_id
                         WHERE t.id = $1 AND (s.user_id IS NULL OR s.user_id = $2)"
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
        self.write(request_cancel(self.clone(), owner.clone(), session.clone())).await
    }

    async fn progress(&self, claim: &Claim) -> PortResult<Fenced<Progress>> {
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

    async fn record(&self, claim: &Claim, record: Record) -> PortResult<Fenced<()>> {
        self.write(journal::record(self.clone(), claim.clone(), record)).await
    }

    async fn finish(&self, claim: &Claim, ending: Ending) -> PortResult<Fenced<Vec<TurnId>>> {
        self.write(finish::finish(self.clone(), claim.clone(), ending)).await
    }

    async fn count_open(&self) -> PortResult<OpenTurns> {
        let now = self.wall_us();
        self.read(|db| async move {
            let row = db
                .query_one(
                    "SELECT count(*) FILTER (WHERE status = 'queued') AS queued,
                         count(*) FILTER (WHERE status = 'running') AS running,
                         min(created_at) FILTER (WHERE status = 'queued') AS since
                     FROM turn WHERE status IN ('queued', 'running')",
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
            concat!(
                "SELECT ",
                turn_columns!(),
                " FROM turn AS t JOIN session AS s ON s.id = t.session_id WHERE t.id = $1"
            ),
            &[&Text(id.as_str())],
        )
        .await?;
    row.as_ref().map(rows::turn).transpose()
}

/// The first turn of the session that has no final status.
async fn first_open(db: &Connection, session: &SessionId) -> Result<Option<TurnId>, Fault> {
    let row = db
        .query_opt(
            "SELECT id FROM turn WHERE session_id = $1 AND status IN ('queued', 'running')
             ORDER BY ordinal LIMIT 1",
            &[&Text(session.as_str())],
        )
        .await?;
    row.map(|row| rows::id(&row, "id")).transpose()
}

/// Turns end in the order of their ordinals, so the last of them ended last.
const CURRENT: &str = concat!(
    "SELECT ",
    turn_columns!(),
    ", extract(epoch FROM clock_timestamp() - t.ended)::float8 AS ended_ago
     FROM session AS s JOIN turn AS t ON t.session_id = s.id
     WHERE s.id = $1 AND (s.user_id IS NULL OR s.user_id = $2) AND t.ordinal = coalesce(
         (SELECT min(o.ordinal) FROM turn AS o
          WHERE o.session_id = $1 AND o.status IN ('queued', 'running')),
         (SELECT max(e.ordinal) FROM turn AS e WHERE e.session_id = $1))"
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

async fn request_cancel(
    store: Postgres,
    owner: Owner,
    session: SessionId,
) -> Result<Vec<Turn>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let session = Text(session.as_str());
    let found = db
        .query_opt(
            "SELECT id FROM session WHERE id = $1 AND (user_id IS NULL OR user_id = $2) FOR UPDATE",
            &[&session, &user(&owner)],
        )
        .await?;
    let mut turns = Vec::new();
    if found.is_some() {
        let marked = db
            .query(
                concat!(
                    "WITH t AS (
                         UPDATE turn SET cancel_requested = true
                         WHERE session_id = $1 AND status IN ('queued', 'running') RETURNING *)
                     SELECT ",
                    turn_columns!(),
                    " FROM t JOIN session AS s ON s.id = t.session_id ORDER BY t.ordinal"
                ),
                &[&session],
            )
            .await?;
        turns = marked.iter().map(rows::turn).collect::<Result<_, _>>()?;
    }
    db.commit().await?;
    Ok(turns)
}
