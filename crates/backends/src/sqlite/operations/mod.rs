//! Operations: long-running tool calls, each carried out by a turn of its own.

mod begin;
mod operation_turn;
mod result;

use std::time::Duration;

use async_trait::async_trait;
use ports::store::{NewOperation, OperationBegun, OperationCompleted, OperationKey, Operations};
use ports::{Fenced, PortResult};
use protocol::message::ToolCall;
use protocol::operation::{Operation, OperationResult};
use protocol::session::Owner;
use protocol::turn::TurnClaim;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(super) use self::result::settle;
use super::error::SqliteError;
use super::sessions::user;
use super::write_job::WritePriority;
use super::{SqliteStore, rows};
use crate::words;

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

    async fn accepted(&self, claim: &TurnClaim, at_most: Duration) -> PortResult<Fenced<()>> {
        let (claim, now, caps) = (claim.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Essential, move |db| {
                operation_turn::accepted(db, now, caps, &claim, at_most)
            })
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
                result::complete(db, now, caps, &which, &result)
            })
            .await
    }

    async fn line_up(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>> {
        let (claim, now, caps) = (claim.clone(), self.store_time(), self.caps);
        self.writer
            .run(WritePriority::Essential, move |db| operation_turn::line_up(db, now, caps, &claim))
            .await
    }
}

/// The operation that a turn carries out, if any.
pub(super) fn operation_of_turn(
    db: &Connection,
    turn: &TurnId,
) -> Result<Option<Operation>, SqliteError> {
    find(db, &OperationKey::Task(turn.task()))
}

/// Whether an operation of the session still runs or has not lined up.
pub(super) fn any_open(db: &Connection, session: &SessionId) -> Result<bool, SqliteError> {
    let open = db
        .prepare_cached(
            "SELECT 1 FROM turn
             WHERE session_id = ?1 AND ordinal < 0 AND status IN ('queued', 'running')",
        )?
        .exists([session.as_str()])?;
    Ok(open)
}

const OPERATION: &str = "p.id, p.turn_id, p.session_id, p.asked_by, p.call_id, p.tool_name, \
    p.arguments, p.state, p.outcome, p.output, p.created_at";

fn find(db: &Connection, which: &OperationKey) -> Result<Option<Operation>, SqliteError> {
    let (column, id) = key(which);
    let found = db
        .prepare_cached(&format!("SELECT {OPERATION} FROM operation AS p WHERE p.{column} = ?1"))?
        .query_row([id], read)
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
            "SELECT {OPERATION} FROM operation AS p JOIN session AS s ON s.id = p.session_id
             WHERE p.{column} = ?1 AND (s.user_id IS NULL OR s.user_id IS ?2)"
        ))?
        .query_row(params![id, user(owner)], read)
        .optional()?;
    Ok(found)
}

fn key(which: &OperationKey) -> (&'static str, &str) {
    match which {
        OperationKey::Operation(id) => ("id", id.as_str()),
        OperationKey::Task(id) => ("turn_id", id.as_str()),
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Operation> {
    let result = match rows::optional_word(row, "outcome", words::outcome)? {
        Some(outcome) => Some(OperationResult { output: row.get("output")?, outcome }),
        None => None,
    };
    Ok(Operation {
        id: rows::id(row, "id")?,
        task_id: rows::id(row, "turn_id")?,
        session_id: rows::id(row, "session_id")?,
        asked_by: rows::id(row, "asked_by")?,
        call: ToolCall {
            id: rows::id(row, "call_id")?,
            name: row.get("tool_name")?,
            arguments: row.get("arguments")?,
        },
        state: rows::word(row, "state", words::operation_state)?,
        result,
        created_at: rows::time(row, "created_at")?,
    })
}
