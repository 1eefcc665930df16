//! Finds reviews.

use protocol::review::Review;
use protocol::{ExecutionId, ReviewId, UserId};
use rusqlite::{Connection, OptionalExtension, Params, params};

use crate::rows::reviews::{review, review_columns};
use crate::rules::page;
use crate::sqlite::error::SqliteError;

/// Ordered from the oldest.
pub(crate) fn select(
    db: &Connection,
    which: &str,
    params: impl Params,
) -> Result<Vec<Review>, SqliteError> {
    let found = db
        .prepare_cached(&format!("SELECT {} FROM review AS r WHERE {which}", review_columns!()))?
        .query_map(params, |row| review(row))?
        .collect::<Result<_, _>>()?;
    Ok(found)
}

pub(crate) fn by_id(
    db: &Connection,
    user: &UserId,
    id: &ReviewId,
) -> Result<Option<Review>, SqliteError> {
    let found = db
        .prepare_cached(concat!(
            "SELECT ",
            review_columns!(),
            " FROM review AS r WHERE r.user_id = ?1 AND r.id = ?2"
        ))?
        .query_row([user.as_str(), id.as_str()], |row| review(row))
        .optional()?;
    Ok(found)
}

pub(crate) fn pending(
    db: &Connection,
    user: &UserId,
    limit: u32,
    offset: u64,
) -> Result<(Vec<Review>, u64), SqliteError> {
    let total: i64 = db
        .prepare_cached("SELECT count(*) FROM review WHERE user_id = ?1 AND status = 'WAITING'")?
        .query_row([user.as_str()], |row| row.get(0))?;
    let which = "user_id = ?1 AND status = 'WAITING' ORDER BY number LIMIT ?2 OFFSET ?3";
    let page = select(db, which, params![user.as_str(), limit, page::offset(offset)])?;
    Ok((page, total as u64))
}

pub(crate) fn of_execution(
    db: &Connection,
    user: &UserId,
    execution: &ExecutionId,
) -> Result<Vec<Review>, SqliteError> {
    let which = "execution_id = ?1 AND user_id = ?2 ORDER BY number";
    select(db, which, [execution.as_str(), user.as_str()])
}

/// Whether a review of this execution is still waiting.
pub(crate) fn any_waiting(db: &Connection, execution: &ExecutionId) -> Result<bool, SqliteError> {
    let waits = db
        .prepare_cached("SELECT 1 FROM review WHERE execution_id = ?1 AND status = 'WAITING'")?
        .exists([execution.as_str()])?;
    Ok(waits)
}
