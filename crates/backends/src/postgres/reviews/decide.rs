//! Deciding: all verdicts of one request or none of them, each review once.

use futures::future::try_join_all;
use ports::store::{ReviewVerdict, ReviewsDecided};
use protocol::execution::ExecutionStatus;
use protocol::review::{Review, ReviewStatus};
use protocol::{ExecutionId, ReviewId, UserId};

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::json::written;
use super::super::rows;
use super::super::text::{Text, optional};
use super::row::{review, review_columns};
use crate::{verdicts, words};

pub(super) async fn decide(
    store: Postgres,
    user: UserId,
    verdicts: Vec<ReviewVerdict>,
) -> Result<ReviewsDecided, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let decided = take(&db, &user, &verdicts, store.wall_us()).await?;
    db.commit().await?;
    Ok(decided)
}

async fn take(
    db: &Connection,
    user: &UserId,
    given: &[ReviewVerdict],
    wall_us: i64,
) -> Result<ReviewsDecided, Fault> {
    let asked = match load(db, FIND, user, given).await? {
        Ok(asked) => asked,
        Err(unknown) => return Ok(ReviewsDecided::Unknown(unknown)),
    };
    let Some(execution) = asked.first().map(|review| review.execution_id.clone()) else {
        return Err(Fault::broken("nobody has said what is to be decided"));
    };
    if asked.iter().any(|review| review.execution_id != execution) {
        return Ok(ReviewsDecided::Mixed);
    }
    // The run before its reviews, as everywhere. Reviews of a session have none.
    let run = lock_run(db, user, &execution).await?;
    let asked = match load(db, LOCK, user, given).await? {
        Ok(asked) => asked,
        Err(unknown) => return Ok(ReviewsDecided::Unknown(unknown)),
    };
    if let Some(refused) = verdicts::refusal(given, &asked, run) {
        return Ok(refused);
    }
    let writes = given.iter().zip(&asked);
    let writes = writes.map(|(verdict, review)| write(db, user, verdict, review, wall_us));
    let reviews = try_join_all(writes).await?;
    let due = run == Some(ExecutionStatus::Review) && rouse(db, &execution).await?;
    Ok(ReviewsDecided::Done { reviews, execution, due })
}

const FIND: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM review AS r WHERE r.user_id = $1 AND r.id = ANY($2)"
);
/// In one order, so that no two who decide wait for each other.
const LOCK: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM review AS r WHERE r.user_id = $1 AND r.id = ANY($2) ORDER BY r.number FOR UPDATE"
);

/// The reviews in the order of the verdicts, or the first that is not there.
async fn load(
    db: &Connection,
    statement: &str,
    user: &UserId,
    verdicts: &[ReviewVerdict],
) -> Result<Result<Vec<Review>, ReviewId>, Fault> {
    let ids: Vec<Text<'_>> = verdicts.iter().map(|verdict| Text(verdict.id.as_str())).collect();
    let found = db.query(statement, &[&Text(user.as_str()), &ids]).await?;
    let found: Vec<Review> = found.iter().map(review).collect::<Result<_, _>>()?;
    let in_order = verdicts.iter().map(|verdict| {
        let review = found.iter().find(|review| review.id == verdict.id);
        review.cloned().ok_or_else(|| verdict.id.clone())
    });
    Ok(in_order.collect())
}

async fn lock_run(
    db: &Connection,
    user: &UserId,
    execution: &ExecutionId,
) -> Result<Option<ExecutionStatus>, Fault> {
    let row = db
        .query_opt(
            "SELECT status FROM execution WHERE id = $1 AND user_id = $2 FOR UPDATE",
            &[&Text(execution.as_str()), &Text(user.as_str())],
        )
        .await?;
    row.map(|row| rows::word(&row, "status", ExecutionStatus::parse)).transpose()
}

async fn write(
    db: &Connection,
    user: &UserId,
    verdict: &ReviewVerdict,
    asked: &Review,
    wall_us: i64,
) -> Result<Review, Fault> {
    let status = if verdict.approved { ReviewStatus::Approved } else { ReviewStatus::Rejected };
    let payload = verdicts::edit(verdict, asked).map(written).transpose()?;
    let (user, id) = (Text(user.as_str()), Text(verdict.id.as_str()));
    let row = db
        .query_one(
            concat!(
                "UPDATE review AS r SET status = $3, review_message = $4,
                     payload = coalesce($5, payload), was_edited = $5 IS NOT NULL, reviewed_at = $6
                 WHERE r.user_id = $1 AND r.id = $2 RETURNING ",
                review_columns!()
            ),
            &[
                &user,
                &id,
                &words::review_status_word(status),
                &optional(verdict.message.as_deref()),
                &optional(payload.as_deref()),
                &wall_us,
            ],
        )
        .await?;
    if verdict.approved && verdict.for_the_rest {
        let place = (Text(asked.execution_id.as_str()), Text(asked.node_id.as_str()));
        db.query(
            "INSERT INTO review_approval (user_id, execution_id, node_id) VALUES ($1, $2, $3)
             ON CONFLICT DO NOTHING",
            &[&user, &place.0, &place.1],
        )
        .await?;
    }
    review(&row)
}

/// Makes a run that rests due when nothing is left to be decided.
async fn rouse(db: &Connection, execution: &ExecutionId) -> Result<bool, Fault> {
    let roused = db
        .query_opt(
            "UPDATE execution AS e SET status = 'QUEUED', due = clock_timestamp()
             WHERE e.id = $1 AND e.status = 'REVIEW' AND NOT EXISTS (
                 SELECT 1 FROM review AS r WHERE r.execution_id = e.id AND r.user_id = e.user_id
                   AND r.status = 'WAITING')
             RETURNING e.id",
            &[&Text(execution.as_str())],
        )
        .await?;
    Ok(roused.is_some())
}
