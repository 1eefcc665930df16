//! Operations: long-running tool calls, each carried out by a turn of its own.

mod begin;
mod complete;
mod line_up;
mod rest;
pub(crate) mod result;

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{NewOperation, OperationBegun, OperationCompleted, OperationKey, Operations};
use ports::{Fenced, PortResult};
use protocol::operation::{Operation, OperationResult};
use protocol::session::Owner;
use protocol::turn::TurnClaim;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteStore;
use super::error::SqliteError;
use super::sessions::user;
use super::write_job::WritePriority;
use crate::rows::operations::{operation, operation_columns, owned_operation};

#[async_trait]
impl Operations for SqliteStore {
    async fn begin(
        &self,
        claim: &TurnClaim,
        new: NewOperation,
    ) -> PortResult<Fenced<OperationBegun>> {
        let (claim, now, caps) = (claim.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Ordinary, move |db| begin::begin(db, now, caps, &claim, &new))
            .await
    }

    async fn get(&self, owner: &Owner, which: &OperationKey) -> PortResult<Option<Operation>> {
        let (owner, which) = (owner.clone(), which.clone());
        self.readers.run(move |db| find_for(db, &owner, &which)).await
    }

    async fn find(&self, which: &OperationKey) -> PortResult<Option<(Owner, Operation)>> {
        let which = which.clone();
        self.readers.run(move |db| find_with_owner(db, &which)).await
    }

    async fn accepted(&self, claim: &TurnClaim, at_most: Duration) -> PortResult<Fenced<()>> {
        let (claim, now, caps) = (claim.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Essential, move |db| rest::accepted(db, now, caps, &claim, at_most))
            .await
    }

    async fn complete(
        &self,
        which: &OperationKey,
        result: OperationResult,
    ) -> PortResult<OperationCompleted> {
        let (which, now, caps) = (which.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Essential, move |db| {
                complete::complete(db, now, caps, &which, &result)
            })
            .await
    }

    async fn line_up(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        let (claim, now, caps) = (claim.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Essential, move |db| line_up::line_up(db, now, caps, &claim))
            .await
    }
}

/// The operation that a turn carries out, if any.
pub(crate) fn operation_of_turn(
    db: &Connection,
    turn: &TurnId,
) -> Result<Option<Operation>, SqliteError> {
    find(db, &OperationKey::Task(turn.task()))
}

/// The operation of a turn that must have one.
fn carried_out(db: &Connection, claim: &TurnClaim) -> Result<Operation, SqliteError> {
    operation_of_turn(db, &claim.turn_id)?
        .ok_or_else(|| SqliteError::broken("the turn carries out no operation"))
}

/// Whether an operation of the session still runs or has not lined up.
pub(crate) fn any_open(db: &Connection, session: &SessionId) -> Result<bool, SqliteError> {
    let open = db
        .prepare_cached(
            "SELECT 1 FROM turn
             WHERE session_id = ?1 AND ordinal < 0 AND status IN ('queued', 'running')",
        )?
        .exists([session.as_str()])?;
    Ok(open)
}

fn find(db: &Connection, which: &OperationKey) -> Result<Option<Operation>, SqliteError> {
    let (column, id) = key(which);
    let found = db
        .prepare_cached(&format!(
            "SELECT {} FROM operation AS p WHERE p.{column} = ?1",
            operation_columns!()
        ))?
        .query_row([id], |row| operation(row))
        .optional()?;
    Ok(found)
}

fn find_with_owner(
    db: &Connection,
    which: &OperationKey,
) -> Result<Option<(Owner, Operation)>, SqliteError> {
    let (column, id) = key(which);
    let found = db
        .prepare_cached(&format!(
            "SELECT {}, s.user_id FROM operation AS p JOIN session AS s ON s.id = p.session_id
             WHERE p.{column} = ?1",
            operation_columns!()
        ))?
        .query_row([id], |row| owned_operation(row))
        .optional()?;
    Ok(found)
}

fn find_for(
    db: &Connection,
    owner: &Owner,
    which: &OperationKey,
) -> Result<Option<Operation>, SqliteError> {
    let (column, id) = key(which);
    let found = db
        .prepare_cached(&format!(
            "SELECT {} FROM operation AS p JOIN session AS s ON s.id = p.session_id
             WHERE p.{column} = ?1 AND (s.user_id IS NULL OR s.user_id IS ?2)",
            operation_columns!()
        ))?
        .query_row(params![id, user(owner)], |row| operation(row))
        .optional()?;
    Ok(found)
}

fn key(which: &OperationKey) -> (&'static str, &str) {
    match which {
        OperationKey::Operation(id) => ("id", id.as_str()),
        OperationKey::Task(id) => ("turn_id", id.as_str()),
    }
}
