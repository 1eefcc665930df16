//! What people have decided: all of one request or none.

use ports::store::{ReviewVerdict, ReviewsDecided};
use protocol::execution::ExecutionStatus;
use protocol::review::{Review, ReviewStatus};
use protocol::{ExecutionId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fault::Fault;
use super::super::job::Done;
use super::super::{Moment, rows};
use super::rows::{any_waits, by_id};
use crate::verdicts::{edit, refusal};
use crate::words;

pub(super) fn decide(
    db: &Connection,
    now: Moment,
    user: &UserId,
    verdicts: &[ReviewVerdict],
) -> Result<Done<ReviewsDecided>, Fault> {
    let mut asked = Vec::with_capacity(verdicts.len());
    for verdict in verdicts {
        match by_id(db, user, &verdict.id)? {
            Some(review) => asked.push(review),
            None => return Ok(Done::quietly(ReviewsDecided::Unknown(verdict.id.clone()))),
        }
    }
    let Some(first) = asked.first() else { return Err(Fault::broken("nothing to decide")) };
    let execution = first.execution_id.clone();
    if asked.iter().any(|review| review.execution_id != execution) {
        return Ok(Done::quietly(ReviewsDecided::Mixed));
    }
    // Everything is looked at before anything is written: what was refused must not leave a trace.
    if let Some(refused) = refusal(verdicts, &asked, status(db, &execution)?) {
        return Ok(Done::quietly(refused));
    }
    let mut reviews = Vec::with_capacity(asked.len());
    for (review, verdict) in asked.iter().zip(verdicts) {
        write(db, now, review, verdict)?;
        reviews.extend(by_id(db, user, &review.id)?);
    }
    let due = wake(db, now, &execution)?;
    Ok(Done::quietly(ReviewsDecided::Done { reviews, execution, due }))
}

/// `None`: the place is no execution.
fn status(db: &Connection, execution: &ExecutionId) -> Result<Option<ExecutionStatus>, Fault> {
    let status = db
        .prepare_cached("SELECT status FROM execution WHERE id = ?1")?
        .query_row([execution.as_str()], |row| rows::word(row, "status", ExecutionStatus::parse))
        .optional()?;
    Ok(status)
}

fn write(
    db: &Connection,
    now: Moment,
    review: &Review,
    verdict: &ReviewVerdict,
) -> Result<(), Fault> {
    let status = match verdict.approved {
        true => ReviewStatus::Approved,
        false => ReviewStatus::Rejected,
    };
    let edited = edit(verdict, review).map(ToString::to_string);
    db.prepare_cached(
        "UPDATE review SET status = ?3, review_message = ?4, payload = ifnull(?5, payload),
             was_edited = ?5 IS NOT NULL, reviewed_at = ?6
         WHERE user_id = ?1 AND id = ?2",
    )?
    .execute(params![
        review.user_id.as_str(),
        review.id.as_str(),
        words::review_status_word(status),
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

/// Makes a run that rests due when nothing of it waits any more.
fn wake(db: &Connection, now: Moment, execution: &ExecutionId) -> Result<bool, Fault> {
    if any_waits(db, execution)? {
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
