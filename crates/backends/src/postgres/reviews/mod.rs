//! Reviews: decisions that people have to make.

mod decide;
mod row;

use async_trait::async_trait;
use futures::future::{try_join, try_join_all};
use ports::PortResult;
use ports::store::{ReviewVerdict, Reviews, ReviewsDecided};
use protocol::review::Review;
use protocol::{ExecutionId, NodeId, ReviewId, UserId};

use self::row::{review, review_columns};
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::json::written;
use super::text_param::{TextParam, optional};
use super::turns::advisory_locks;
use super::{PostgresStore, rows};
use crate::words;

#[async_trait]
impl Reviews for PostgresStore {
    async fn ask(&self, review: &Review) -> PortResult<Review> {
        let (store, review) = (self.clone(), review.clone());
        self.write(async move {
            let db = PooledConnection::begin(&store.pool).await?;
            let review = ask(&db, &review).await?;
            db.commit().await?;
            Ok(review)
        })
        .await
    }

    async fn get(&self, user: &UserId, id: &ReviewId) -> PortResult<Option<Review>> {
        self.read(|db| async move { by_id(&db, user, id).await }).await
    }

    async fn pending(
        &self,
        user: &UserId,
        limit: u32,
        offset: u64,
    ) -> PortResult<(Vec<Review>, u64)> {
        self.read(|db| async move {
            let user = TextParam(user.as_str());
            let (page, total) = try_join(
                db.query(PENDING, &[&user, &i64::from(limit), &(offset as i64)]),
                db.query_one(
                    "SELECT count(*) AS total FROM review
                     WHERE user_id = $1 AND status = 'WAITING'",
                    &[&user],
                ),
            )
            .await?;
            let page = page.iter().map(review).collect::<Result<_, _>>()?;
            Ok((page, rows::number(&total, "total")?))
        })
        .await
    }

    async fn of_execution(
        &self,
        user: &UserId,
        execution: &ExecutionId,
    ) -> PortResult<Vec<Review>> {
        self.read(|db| async move {
            let ids = (TextParam(execution.as_str()), TextParam(user.as_str()));
            let found = db.query(OF_EXECUTION, &[&ids.0, &ids.1]).await?;
            found.iter().map(review).collect()
        })
        .await
    }

    async fn decide(
        &self,
        user: &UserId,
        verdicts: &[ReviewVerdict],
    ) -> PortResult<ReviewsDecided> {
        self.write(decide::decide(self.clone(), user.clone(), verdicts.to_vec())).await
    }

    async fn approved_for_the_rest(
        &self,
        user: &UserId,
        execution: &ExecutionId,
        node: &NodeId,
    ) -> PortResult<bool> {
        self.read(|db| async move {
            let found = db
                .query_opt(
                    "SELECT node_id FROM review_approval
                     WHERE user_id = $1 AND execution_id = $2 AND node_id = $3",
                    &[
                        &TextParam(user.as_str()),
                        &TextParam(execution.as_str()),
                        &TextParam(node.as_str()),
                    ],
                )
                .await?;
            Ok(found.is_some())
        })
        .await
    }

    async fn remove(&self, user: &UserId, id: &ReviewId) -> PortResult<bool> {
        let (pool, user, id) = (self.pool.clone(), user.clone(), id.clone());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let removed = db
                .query_opt(
                    "DELETE FROM review WHERE user_id = $1 AND id = $2 RETURNING id",
                    &[&TextParam(user.as_str()), &TextParam(id.as_str())],
                )
                .await?;
            Ok(removed.is_some())
        })
        .await
    }
}

const PENDING: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM review AS r WHERE r.user_id = $1 AND r.status = 'WAITING'
     ORDER BY r.number LIMIT $2 OFFSET $3"
);
const OF_EXECUTION: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM review AS r WHERE r.execution_id = $1 AND r.user_id = $2 ORDER BY r.number"
);
const BY_ID: &str =
    concat!("SELECT ", review_columns!(), " FROM review AS r WHERE r.user_id = $1 AND r.id = $2");
/// Keeps an existing review with the same id.
const INSERT: &str = "\
    INSERT INTO review (user_id, id, execution_id, graph_id, graph_version, node_id, payload,
        instructions, editable, status, review_message, was_edited, created_at, reviewed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    ON CONFLICT (user_id, id) DO NOTHING";

/// Takes a lock per execution or session, so that two equal requests at the same time create one review.
async fn ask(db: &PooledConnection, new: &Review) -> Result<Review, PostgresError> {
    let subject = &new.execution_id;
    advisory_locks::lock(db, &format!("reviews:{subject}")).await?;
    let ids = (TextParam(subject.as_str()), TextParam(new.user_id.as_str()));
    for row in &db.query(OF_EXECUTION, &[&ids.0, &ids.1]).await? {
        let before = review(row)?;
        let same = before.node_id == new.node_id && before.payload == new.payload;
        if same && before.decision().is_none() {
            return Ok(before);
        }
    }
    insert(db, new).await?;
    let stored = by_id(db, &new.user_id, &new.id).await?;
    stored.ok_or_else(|| PostgresError::broken("a new review cannot be found"))
}

/// Inserts in order, so that the oldest comes first when they are read.
pub(super) async fn insert_all(
    db: &PooledConnection,
    reviews: &[Review],
) -> Result<(), PostgresError> {
    if !reviews.is_empty() {
        db.prepare(&[INSERT]).await?;
        try_join_all(reviews.iter().map(|review| insert(db, review))).await?;
    }
    Ok(())
}

async fn insert(db: &PooledConnection, review: &Review) -> Result<(), PostgresError> {
    let payload = written(&review.payload)?;
    db.query(
        INSERT,
        &[
            &TextParam(review.user_id.as_str()),
            &TextParam(review.id.as_str()),
            &TextParam(review.execution_id.as_str()),
            &TextParam(review.graph_id.as_str()),
            &(review.graph_version as i32),
            &TextParam(review.node_id.as_str()),
            &TextParam(&payload),
            &TextParam(&review.instructions),
            &review.editable,
            &words::review_status_word(review.status),
            &optional(review.review_message.as_deref()),
            &review.was_edited,
            &review.created_at.as_microsecond(),
            &review.reviewed_at.map(|time| time.as_microsecond()),
        ],
    )
    .await?;
    Ok(())
}

async fn by_id(
    db: &PooledConnection,
    user: &UserId,
    id: &ReviewId,
) -> Result<Option<Review>, PostgresError> {
    let row = db.query_opt(BY_ID, &[&TextParam(user.as_str()), &TextParam(id.as_str())]).await?;
    row.as_ref().map(review).transpose()
}
