//! Decides reviews: all verdicts of one request or none, each review once.

use futures::future::try_join_all;
use ports::store::{ReviewVerdict, ReviewsDecided};
use protocol::execution::ExecutionStatus;
use protocol::review::Review;
use protocol::{ExecutionId, ReviewId, UserId};

use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::{TextParam, optional};
use crate::rows::StoreRow;
use crate::rows::reviews::{review, review_columns};
use crate::rules::json::to_json;
use crate::rules::review_verdicts::{common_execution, decided_status, edit, refusal};

pub(crate) async fn decide(
    store: PostgresStore,
    user: UserId,
    verdicts: Vec<ReviewVerdict>,
) -> Result<ReviewsDecided, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let decided = take(&db, &user, &verdicts, store.wall_us()).await?;
    db.commit().await?;
    Ok(decided)
}

async fn take(
    db: &PooledConnection,
    user: &UserId,
    given: &[ReviewVerdict],
    wall_us: i64,
) -> Result<ReviewsDecided, PostgresError> {
    let reviews = match load(db, FIND, user, given).await? {
        Ok(reviews) => reviews,
        Err(unknown) => return Ok(ReviewsDecided::Unknown(unknown)),
    };
    let Some(execution) = common_execution(&reviews)? else {
        return Ok(ReviewsDecided::Mixed);
    };
    // The execution before its reviews, as everywhere. Reviews of a session have none.
    let run = lock_run(db, user, &execution).await?;
    let reviews = match load(db, LOCK, user, given).await? {
        Ok(reviews) => reviews,
        Err(unknown) => return Ok(ReviewsDecided::Unknown(unknown)),
    };
    if let Some(refused) = refusal(given, &reviews, run) {
        return Ok(refused);
    }
    let writes = given.iter().zip(&reviews);
    let writes = writes.map(|(verdict, review)| write(db, user, verdict, review, wall_us));
    let reviews = try_join_all(writes).await?;
    let due = run == Some(ExecutionStatus::Review) && end_rest(db, &execution).await?;
    Ok(ReviewsDecided::Done { reviews, execution, due })
}

const FIND: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM review AS r WHERE r.user_id = $1 AND r.id = ANY($2)"
);
/// In a fixed order, so that concurrent calls do not deadlock.
const LOCK: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM review AS r WHERE r.user_id = $1 AND r.id = ANY($2) ORDER BY r.number FOR UPDATE"
);

/// The reviews in the order of the verdicts, or the first one that does not exist.
async fn load(
    db: &PooledConnection,
    statement: &str,
    user: &UserId,
    verdicts: &[ReviewVerdict],
) -> Result<Result<Vec<Review>, ReviewId>, PostgresError> {
    let ids: Vec<TextParam<'_>> =
        verdicts.iter().map(|verdict| TextParam(verdict.id.as_str())).collect();
    let found = db.query(statement, &[&TextParam(user.as_str()), &ids]).await?;
    let found: Vec<Review> = found.iter().map(review).collect::<Result<_, _>>()?;
    let in_order = verdicts.iter().map(|verdict| {
        let review = found.iter().find(|review| review.id == verdict.id);
        review.cloned().ok_or_else(|| verdict.id.clone())
    });
    Ok(in_order.collect())
}

async fn lock_run(
    db: &PooledConnection,
    user: &UserId,
    execution: &ExecutionId,
) -> Result<Option<ExecutionStatus>, PostgresError> {
    let row = db
        .query_opt(
            "SELECT status FROM execution WHERE id = $1 AND user_id = $2 FOR UPDATE",
            &[&TextParam(execution.as_str()), &TextParam(user.as_str())],
        )
        .await?;
    row.map(|row| row.word("status")).transpose()
}

async fn write(
    db: &PooledConnection,
    user: &UserId,
    verdict: &ReviewVerdict,
    stored: &Review,
    wall_us: i64,
) -> Result<Review, PostgresError> {
    let payload = edit(verdict, stored).map(to_json).transpose()?;
    let (user, id) = (TextParam(user.as_str()), TextParam(verdict.id.as_str()));
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
                &decided_status(verdict).as_str(),
                &optional(verdict.message.as_deref()),
                &optional(payload.as_deref()),
                &wall_us,
            ],
        )
        .await?;
    if verdict.approved && verdict.for_the_rest {
        let node = (TextParam(stored.execution_id.as_str()), TextParam(stored.node_id.as_str()));
        db.query(
            "INSERT INTO review_approval (user_id, execution_id, node_id) VALUES ($1, $2, $3)
             ON CONFLICT DO NOTHING",
            &[&user, &node.0, &node.1],
        )
        .await?;
    }
    review(&row)
}

/// Makes a resting execution due when none of its reviews waits.
async fn end_rest(db: &PooledConnection, execution: &ExecutionId) -> Result<bool, PostgresError> {
    let roused = db
        .query_opt(
            "UPDATE execution AS e SET status = 'QUEUED', due = clock_timestamp()
             WHERE e.id = $1 AND e.status = 'REVIEW' AND NOT EXISTS (
                 SELECT 1 FROM review AS r WHERE r.execution_id = e.id AND r.user_id = e.user_id
                   AND r.status = 'WAITING')
             RETURNING e.id",
            &[&TextParam(execution.as_str())],
        )
        .await?;
    Ok(roused.is_some())
}
