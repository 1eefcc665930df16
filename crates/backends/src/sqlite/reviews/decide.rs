//! Decides reviews: all verdicts of one request or none.

use ports::store::{ReviewVerdict, ReviewsDecided};
use protocol::execution::ExecutionStatus;
use protocol::review::Review;
use protocol::{ExecutionId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use super::find::{any_waiting, by_id};
use crate::rows::StoreRow;
use crate::rules::review_verdicts::{common_execution, decided_status, edit, refusal};
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn decide(
    db: &Connection,
    now: StoreTime,
    user: &UserId,
    verdicts: &[ReviewVerdict],
) -> Result<WriteOutput<ReviewsDecided>, SqliteError> {
    let mut waiting = Vec::with_capacity(verdicts.len());
    for verdict in verdicts {
        match by_id(db, user, &verdict.id)? {
            Some(review) => waiting.push(review),
            None => return Ok(WriteOutput::silent(ReviewsDecided::Unknown(verdict.id.clone()))),
        }
    }
    let Some(execution) = common_execution(&waiting)? else {
        return Ok(WriteOutput::silent(ReviewsDecided::Mixed));
    };
    // Everything is checked before anything is written: a refused request must not change anything.
    if let Some(refused) = refusal(verdicts, &waiting, status(db, &execution)?) {
        return Ok(WriteOutput::silent(refused));
    }
    let mut reviews = Vec::with_capacity(waiting.len());
    for (review, verdict) in waiting.iter().zip(verdicts) {
        write(db, now, review, verdict)?;
        reviews.extend(by_id(db, user, &review.id)?);
    }
    let due = end_rest(db, now, &execution)?;
    Ok(WriteOutput::silent(ReviewsDecided::Done { reviews, execution, due }))
}

/// `None` when the reviews belong to a session, not to an execution.
fn status(
    db: &Connection,
    execution: &ExecutionId,
) -> Result<Option<ExecutionStatus>, SqliteError> {
    let status = db
        .prepare_cached("SELECT status FROM execution WHERE id = ?1")?
        .query_row([execution.as_str()], |row| row.word("status"))
        .optional()?;
    Ok(status)
}

fn write(
    db: &Connection,
    now: StoreTime,
    review: &Review,
    verdict: &ReviewVerdict,
) -> Result<(), SqliteError> {
    let edited = edit(verdict, review).map(ToString::to_string);
    db.prepare_cached(
        "UPDATE review SET status = ?3, review_message = ?4, payload = ifnull(?5, payload),
             was_edited = ?5 IS NOT NULL, reviewed_at = ?6
         WHERE user_id = ?1 AND id = ?2",
    )?
    .execute(params![
        review.user_id.as_str(),
        review.id.as_str(),
        decided_status(verdict).as_str(),
        verdict.message,
        edited,
        now.wall_us,
    ])?;
    if verdict.approved && verdict.for_the_rest {
        db.prepare_cached(
            "INSERT INTO review_approval (user_id, execution_id, node_id) VALUES (?1, ?2, ?3)
             ON CONFLICT DO NOTHING",
        )?
        .execute([
            review.user_id.as_str(),
            review.execution_id.as_str(),
            review.node_id.as_str(),
        ])?;
    }
    Ok(())
}

/// Makes a resting execution due when none of its reviews waits.
fn end_rest(db: &Connection, now: StoreTime, execution: &ExecutionId) -> Result<bool, SqliteError> {
    if any_waiting(db, execution)? {
        return Ok(false);
    }
    let woken = db
        .prepare_cached(
            "UPDATE execution SET status = 'QUEUED', due_ms = ?2
             WHERE id = ?1 AND status = 'REVIEW'",
        )?
        .execute(params![execution.as_str(), now.ms])?;
    Ok(woken > 0)
}
