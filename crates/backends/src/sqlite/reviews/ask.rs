//! Asks for reviews, and withdraws them.

use protocol::ExecutionId;
use protocol::review::Review;
use rusqlite::{Connection, params};

use super::find::{by_id, select};
use crate::sqlite::error::SqliteError;

/// Stores the review, or returns the waiting one with the same question.
pub(crate) fn ask(db: &Connection, review: &Review) -> Result<Review, SqliteError> {
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
pub(crate) fn insert(db: &Connection, review: &Review) -> Result<(), SqliteError> {
    db.prepare_cached(
        "INSERT INTO review (user_id, id, execution_id, graph_id, graph_version, node_id, payload,
             instructions, editable, status, review_message, was_edited, created_at, reviewed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (user_id, id) DO NOTHING",
    )?
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
        review.status.as_str(),
        review.review_message,
        review.was_edited,
        review.created_at.as_microsecond(),
        review.reviewed_at.map(|at| at.as_microsecond()),
    ])?;
    Ok(())
}

/// Removes the waiting reviews of an execution that has ended.
pub(crate) fn withdraw(db: &Connection, execution: &ExecutionId) -> Result<(), SqliteError> {
    db.prepare_cached("DELETE FROM review WHERE execution_id = ?1 AND status = 'WAITING'")?
        .execute([execution.as_str()])?;
    Ok(())
}
