//! Rows of reviews.

use protocol::review::Review;
use protocol::{ExecutionId, ReviewId, UserId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::super::error::SqliteError;
use super::super::rows;
use crate::words;

const REVIEW: &str = "user_id, id, execution_id, graph_id, graph_version, node_id, payload, \
    instructions, editable, status, review_message, was_edited, created_at, reviewed_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Review> {
    Ok(Review {
        id: rows::id(row, "id")?,
        user_id: rows::id(row, "user_id")?,
        execution_id: rows::id(row, "execution_id")?,
        graph_id: rows::id(row, "graph_id")?,
        graph_version: row.get("graph_version")?,
        node_id: rows::id(row, "node_id")?,
        payload: rows::json(row, "payload")?,
        instructions: row.get("instructions")?,
        editable: row.get("editable")?,
        status: rows::word(row, "status", words::review_status)?,
        review_message: row.get("review_message")?,
        was_edited: row.get("was_edited")?,
        created_at: rows::time(row, "created_at")?,
        reviewed_at: rows::optional_time(row, "reviewed_at")?,
    })
}

/// Ordered from the oldest.
fn select(db: &Connection, which: &str, params: impl Params) -> Result<Vec<Review>, SqliteError> {
    let found = db
        .prepare_cached(&format!("SELECT {REVIEW} FROM review WHERE {which}"))?
        .query_map(params, read)?
        .collect::<Result<_, _>>()?;
    Ok(found)
}

pub(super) fn by_id(
    db: &Connection,
    user: &UserId,
    id: &ReviewId,
) -> Result<Option<Review>, SqliteError> {
    let found = db
        .prepare_cached(&format!("SELECT {REVIEW} FROM review WHERE user_id = ?1 AND id = ?2"))?
        .query_row([user.as_str(), id.as_str()], read)
        .optional()?;
    Ok(found)
}

pub(super) fn pending(
    db: &Connection,
    user: &UserId,
    limit: u32,
    offset: u64,
) -> Result<(Vec<Review>, u64), SqliteError> {
    let total: i64 = db
        .prepare_cached("SELECT count(*) FROM review WHERE user_id = ?1 AND status = 'WAITING'")?
        .query_row([user.as_str()], |row| row.get(0))?;
    let which = "user_id = ?1 AND status = 'WAITING' ORDER BY number LIMIT ?2 OFFSET ?3";
    let page = select(db, which, params![user.as_str(), limit, rows::offset(offset)])?;
    Ok((page, total as u64))
}

pub(super) fn of_execution(
    db: &Connection,
    user: &UserId,
    execution: &ExecutionId,
) -> Result<Vec<Review>, SqliteError> {
    let which = "execution_id = ?1 AND user_id = ?2 ORDER BY number";
    select(db, which, [execution.as_str(), user.as_str()])
}

/// Stores the review, or returns the waiting one with the same question.
pub(super) fn ask(db: &Connection, review: &Review) -> Result<Review, SqliteError> {
    let which = "execution_id = ?1 AND user_id = ?2 AND node_id = ?3 AND status = 'WAITING'
         ORDER BY number";
    let place = [review.execution_id.as_str(), review.user_id.as_str(), review.node_id.as_str()];
    let mut waiting = select(db, which, place)?.into_iter();
    if let Some(same) = waiting.find(|other| other.payload == review.payload) {
        return Ok(same);
    }
    insert(db, review)?;
    by_id(db, &review.user_id, &review.id)?
        .ok_or_else(|| SqliteError::broken("a new review cannot be found"))
}

/// Keeps an existing review with the same id.
pub(in super::super) fn insert(db: &Connection, review: &Review) -> Result<(), SqliteError> {
    db.prepare_cached(&format!(
        "INSERT INTO review ({REVIEW})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (user_id, id) DO NOTHING"
    ))?
    .execute(params![
        review.user_id.as_str(),
        review.id.as_str(),
        review.execution_id.as_str(),
        review.graph_id.as_str(),
        review.graph_version,
        review.node_id.as_str(),
        review.payload.to_string(),
        review.instructions,
        review.editable,
        words::review_status_word(review.status),
        review.review_message,
        review.was_edited,
        review.created_at.as_microsecond(),
        review.reviewed_at.map(|at| at.as_microsecond()),
    ])?;
    Ok(())
}

/// Whether a review of this execution is still waiting.
pub(in super::super) fn any_waiting(
    db: &Connection,
    execution: &ExecutionId,
) -> Result<bool, SqliteError> {
    let waits = db
        .prepare_cached("SELECT 1 FROM review WHERE execution_id = ?1 AND status = 'WAITING'")?
        .exists([execution.as_str()])?;
    Ok(waits)
}

/// Removes the waiting reviews of an execution that has ended.
pub(in super::super) fn withdraw(
    db: &Connection,
    execution: &ExecutionId,
) -> Result<(), SqliteError> {
    db.prepare_cached("DELETE FROM review WHERE execution_id = ?1 AND status = 'WAITING'")?
        .execute([execution.as_str()])?;
    Ok(())
}
