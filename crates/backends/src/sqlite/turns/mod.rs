//! Turns: accepted, journaled, ended.

mod finish;
mod journal;
mod open;
pub(super) mod places;
mod progress;
mod regenerate;

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{Ending, NewTurn, OpenTurns, Opened, Progress, Record, Turns};
use ports::{Fenced, PortResult};
use protocol::session::Owner;
use protocol::turn::{Claim, Turn};
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use super::job::{Done, Need};
use super::sessions::user;
use super::stream_log::count_fenced;
use super::{Sqlite, rows};

#[async_trait]
impl Turns for Sqlite {
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<Opened> {
        let (owner, now, caps) = (owner.clone(), self.moment(), self.caps);
        self.writer.run(Need::Ordinary, move |db| open::open(db, now, caps, &owner, &new)).await
    }

    async fn get(&self, owner: &Owner, turn: &TurnId) -> PortResult<Option<Turn>> {
        let (owner, turn) = (owner.clone(), turn.clone());
        self.readers
            .run(move |db| {
                let found = db
                    .prepare_cached(&format!(
                        "SELECT {} FROM turn AS t JOIN session AS s ON s.id = t.session_id
                         WHERE t.id = ?1 AND (s.user_id IS NULL OR s.user_id IS ?2)",
                        rows::TURN
                    ))?
                    .query_row(params![turn.as_str(), user(&owner)], rows::turn)
                    .optional()?;
                Ok(found)
            })
            .await
    }

    async fn current(
        &self,
        owner: &Owner,
        session: &SessionId,
    ) -> PortResult<Option<(Turn, Option<Duration>)>> {
        let (owner, session, boot) = (owner.clone(), session.clone(), self.boot);
        let found = self.readers.run(move |db| current(db, &owner, &session)).await?;
        Ok(found.map(|(turn, ended)| {
            let ago = ended
                .filter(|(number, _)| *number == boot.number)
                .map(|(_, ms)| Duration::from_millis((boot.ms() - ms).max(0) as u64));
            (turn, ago)
        }))
    }

    async fn request_cancel(&self, owner: &Owner, session: &SessionId) -> PortResult<Vec<Turn>> {
        let (owner, session) = (owner.clone(), session.clone());
        self.writer.run(Need::Essential, move |db| request_cancel(db, &owner, &session)).await
    }

    async fn progress(&self, claim: &Claim) -> PortResult<Fenced<Progress>> {
        let claim = claim.clone();
        self.readers.run(move |db| progress::progress(db, &claim)).await
    }

    async fn record(&self, claim: &Claim, record: Record) -> PortResult<Fenced<()>> {
        let (claim, now) = (claim.clone(), self.moment());
        self.writer.run(Need::Ordinary, move |db| journal::record(db, now, &claim, &record)).await
    }

    async fn finish(&self, claim: &Claim, ending: Ending) -> PortResult<Fenced<Vec<TurnId>>> {
        let (claim, now, caps) = (claim.clone(), self.moment(), self.caps);
        self.writer
            .run(Need::Essential, move |db| finish::finish(db, now, caps, &claim, &ending))
            .await
    }

    async fn count_open(&self) -> PortResult<OpenTurns> {
        let now = self.moment().wall_us;
        self.readers
            .run(move |db| {
                let open = db
                    .prepare_cached(
                        "SELECT count(*) FILTER (WHERE status = 'queued'),
                             count(*) FILTER (WHERE status = 'running'),
                             min(created_at) FILTER (WHERE status = 'queued')
                         FROM turn WHERE status IN ('queued', 'running')",
                    )?
                    .query_row([], |row| {
                        let since = row.get::<_, Option<i64>>(2)?.unwrap_or(now);
                        Ok(OpenTurns {
                            queued: row.get::<_, i64>(0)? as u64,
                            running: row.get::<_, i64>(1)? as u64,
                            oldest_queued: Duration::from_micros((now - since).max(0) as u64),
                        })
                    })?;
                Ok(open)
            })
            .await
    }
}

/// The turn, whoever it belongs to.
pub(super) fn by_id(db: &Connection, id: &TurnId) -> Result<Option<Turn>, Fault> {
    let found = db
        .prepare_cached(&format!(
            "SELECT {} FROM turn AS t JOIN session AS s ON s.id = t.session_id WHERE t.id = ?1",
            rows::TURN
        ))?
        .query_row([id.as_str()], rows::turn)
        .optional()?;
    Ok(found)
}

/// The turn's ordinal, if the claim still holds. Whoever gets `None` must change nothing.
pub(super) fn held(db: &Connection, claim: &Claim) -> Result<Option<i64>, Fault> {
    let ordinal = db
        .prepare_cached(
            "SELECT ordinal FROM turn WHERE id = ?1 AND fence = ?2 AND status = 'running'",
        )?
        .query_row(params![claim.turn_id.as_str(), claim.fence as i64], |row| row.get(0))
        .optional()?;
    if ordinal.is_none() {
        count_fenced();
    }
    Ok(ordinal)
}

/// The first turn of the session, among those after `ordinal`, that has no final status.
pub(super) fn open_after(
    db: &Connection,
    session: &SessionId,
    ordinal: i64,
) -> Result<Option<(TurnId, i64)>, Fault> {
    let found = db
        .prepare_cached(
            "SELECT id, ordinal FROM turn
             WHERE session_id = ?1 AND ordinal > ?2 AND status IN ('queued', 'running')
             ORDER BY ordinal LIMIT 1",
        )?
        .query_row(params![session.as_str(), ordinal], |row| {
            Ok((rows::id(row, "id")?, row.get("ordinal")?))
        })
        .optional()?;
    Ok(found)
}

type EndedAt = Option<(i64, i64)>;

fn current(
    db: &Connection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Option<(Turn, EndedAt)>, Fault> {
    let select = |which: &str| {
        format!(
            "SELECT {}, t.ended_boot, t.ended_ms FROM turn AS t JOIN session AS s ON s.id = t.session_id
             WHERE t.session_id = ?1 AND (s.user_id IS NULL OR s.user_id IS ?2) {which} LIMIT 1",
            rows::TURN
        )
    };
    let parameters = params![session.as_str(), user(owner)];
    let read = |row: &rusqlite::Row<'_>| {
        let boot: Option<i64> = row.get("ended_boot")?;
        Ok((rows::turn(row)?, boot.zip(row.get("ended_ms")?)))
    };
    let open = db
        .prepare_cached(&select("AND t.status IN ('queued', 'running') ORDER BY t.ordinal"))?
        .query_row(parameters, read)
        .optional()?;
    if open.is_some() {
        return Ok(open);
    }
    // Turns end in the order of their ordinals, so the last of them ended last.
    let ended = db
        .prepare_cached(&select("ORDER BY t.ordinal DESC"))?
        .query_row(parameters, read)
        .optional()?;
    Ok(ended)
}

fn request_cancel(
    db: &Connection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Done<Vec<Turn>>, Fault> {
    db.prepare_cached(
        "UPDATE turn SET cancel_requested = 1
         WHERE session_id = ?1 AND status IN ('queued', 'running') AND EXISTS (
             SELECT 1 FROM session AS s
             WHERE s.id = ?1 AND (s.user_id IS NULL OR s.user_id IS ?2))",
    )?
    .execute(params![session.as_str(), user(owner)])?;
    let turns = db
        .prepare_cached(&format!(
            "SELECT {} FROM turn AS t JOIN session AS s ON s.id = t.session_id
             WHERE t.session_id = ?1 AND t.status IN ('queued', 'running')
               AND (s.user_id IS NULL OR s.user_id IS ?2)
             ORDER BY t.ordinal",
            rows::TURN
        ))?
        .query_map(params![session.as_str(), user(owner)], rows::turn)?
        .collect::<Result<_, _>>()?;
    Ok(Done::quietly(turns))
}
