//! Turns: opened, journaled, finished.

mod background_calls;
mod cancel;
pub(crate) mod claim;
pub(crate) mod claimed_rows;
mod finish;
pub(crate) mod insert;
mod journal;
pub(crate) mod message_id;
mod open;
mod parent;
pub(crate) mod permits;
mod progress;
mod regenerate;
pub(crate) mod settle;
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
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::error::SqliteError;
use super::sessions::user;
use super::write_job::WritePriority;
use crate::rows::StoreRow;
use crate::rows::reports::open_turns;
use crate::rows::turns::{of_turn, select_turns, turn, turn_columns};

#[async_trait]
impl Turns for SqliteStore {
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened> {
        let (owner, now, caps) = (owner.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Ordinary, move |db| open::open(db, now, caps, &owner, &new))
            .await
    }

    async fn get(&self, owner: &Owner, turn_id: &TurnId) -> PortResult<Option<Turn>> {
        let (owner, turn_id) = (owner.clone(), turn_id.clone());
        self.readers
            .run(move |db| {
                let found = db
                    .prepare_cached(concat!(
                        select_turns!(),
                        "WHERE t.id = ?1 AND (s.user_id IS NULL OR s.user_id IS ?2)"
                    ))?
                    .query_row(params![turn_id.as_str(), user(&owner)], |row| turn(row))
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
        let (owner, session, now) = (owner.clone(), session.clone(), self.store_time());
        self.writer
            .run(WritePriority::Essential, move |db| {
                cancel::request_cancel(db, now, &owner, &session)
            })
            .await
    }

    async fn progress(&self, claim: &TurnClaim) -> PortResult<Fenced<TurnProgress>> {
        let claim = claim.clone();
        self.readers.run(move |db| progress::progress(db, &claim)).await
    }

    async fn record(&self, claim: &TurnClaim, record: JournalRecord) -> PortResult<Fenced<()>> {
        let (claim, now) = (claim.clone(), self.store_time());
        self.writer
            .run(WritePriority::Ordinary, move |db| journal::record(db, now, &claim, &record))
            .await
    }

    async fn finish(
        &self,
        claim: &TurnClaim,
        ending: TurnEnding,
    ) -> PortResult<Fenced<TurnFinished>> {
        let (claim, now, caps) = (claim.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Essential, move |db| finish::finish(db, now, caps, &claim, &ending))
            .await
    }

    async fn step_aside(&self, claim: &TurnClaim) -> PortResult<Fenced<Vec<TurnId>>> {
        let (claim, now, caps) = (claim.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Essential, move |db| {
                yield_permit::yield_permit(db, now, caps, &claim)
            })
            .await
    }

    async fn step_back(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        let (claim, now, caps) = (claim.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Essential, move |db| {
                yield_permit::reacquire_permit(db, now, caps, &claim)
            })
            .await
    }

    async fn count_open(&self) -> PortResult<OpenTurns> {
        let now = self.store_time().wall_us;
        self.readers
            .run(move |db| {
                let open = db
                    .prepare_cached(
                        "SELECT count(*) FILTER (WHERE status = 'queued') AS queued,
                             count(*) FILTER (WHERE status = 'running') AS running,
                             min(created_at) FILTER (WHERE status = 'queued') AS since
                         FROM turn WHERE status IN ('queued', 'running') AND ordinal > 0",
                    )?
                    .query_row([], |row| open_turns(row, now))?;
                Ok(open)
            })
            .await
    }
}

/// The turn, regardless of its owner.
pub(crate) fn by_id(db: &Connection, id: &TurnId) -> Result<Option<Turn>, SqliteError> {
    let found = db
        .prepare_cached(concat!(select_turns!(), "WHERE t.id = ?1"))?
        .query_row([id.as_str()], |row| turn(row))
        .optional()?;
    Ok(found)
}

/// The first turn of the session after `ordinal` without a final status.
pub(crate) fn open_after(
    db: &Connection,
    session: &SessionId,
    ordinal: i64,
) -> Result<Option<(TurnId, i64)>, SqliteError> {
    let found = db
        .prepare_cached(
            "SELECT id, ordinal FROM turn
             WHERE session_id = ?1 AND ordinal > ?2 AND status IN ('queued', 'running')
             ORDER BY ordinal LIMIT 1",
        )?
        .query_row(params![session.as_str(), ordinal], |row| {
            Ok((row.id("id")?, row.get("ordinal")?))
        })
        .optional()?;
    Ok(found)
}

type BootTime = Option<(i64, i64)>;

fn current(
    db: &Connection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Option<(Turn, BootTime)>, SqliteError> {
    macro_rules! select {
        ($which:literal) => {
            concat!(
                "SELECT ",
                turn_columns!(),
                ", t.ended_boot, t.ended_ms FROM turn AS t",
                of_turn!(),
                "WHERE t.session_id = ?1 AND t.ordinal > 0
                   AND (s.user_id IS NULL OR s.user_id IS ?2) ",
                $which,
                " LIMIT 1"
            )
        };
    }
    let parameters = params![session.as_str(), user(owner)];
    let read = |row: &rusqlite::Row<'_>| {
        let boot: Option<i64> = row.get("ended_boot")?;
        Ok((turn(row)?, boot.zip(row.get("ended_ms")?)))
    };
    let open = db
        .prepare_cached(select!("AND t.status IN ('queued', 'running') ORDER BY t.ordinal"))?
        .query_row(parameters, read)
        .optional()?;
    if open.is_some() {
        return Ok(open);
    }
    // Turns end in the order of their ordinals, so the last of them ended last.
    let ended = db
        .prepare_cached(select!("ORDER BY t.ordinal DESC"))?
        .query_row(parameters, read)
        .optional()?;
    Ok(ended)
}
