//! What people have to decide.

mod decide;
mod row;

use async_trait::async_trait;
use futures::future::{try_join, try_join_all};
use ports::PortResult;
use ports::store::{ReviewVerdict, Reviews, ReviewsDecided};
use protocol::review::Review;
use protocol::{ExecutionId, NodeId, ReviewId, UserId};

use self::row::{review, review_columns};
use super::connection::Connection;
use super::fault::Fault;
use super::json::written;
use super::text::{Text, optional};
use super::turns::slots;
use super::{Postgres, rows};
use crate::words;

#[async_trait]
impl Reviews for Postgres {
    async fn ask(&self, review: &Review) -> PortResult<Review> {
        let (store, review) = (self.clone(), review.clone());
        self.write(async move {
            let db = Connection::begin(&store.pool).await?;
            let asked = ask(&db, &review).await?;
            db.commit().await?;
            Ok(asked)
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
            let user = Text(user.as_str());
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
            let ids = (Text(execution.as_str()), Text(user.as_str()));
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
                    &[&Text(user.as_str()), &Text(execution.as_str()), &Text(node.as_str())],
                )
                .await?;
            Ok(found.is_some())
        })
        .await
    }

    async fn remove(&self, user: &UserId, id: &ReviewId) -> PortResult<bool> {
        let (pool, user, id) = (self.pool.clone(), user.clone(), id.clone());
        self.write(async move {
            let db = Connection::get(&pool).await?;
            let removed = db
                .query_opt(
                    "DELETE FROM review WHERE user_id = $1 AND id = $2 RETURNING id",
                    &[&Text(user.as_str()), &Text(id.as_str())],
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
/// One whose id is there already is left as it is.
const INSERT: &str = "\
    INSERT INTO review (user_id, id, execution_id, graph_id, graph_version, node_id, payload,
        instructions, editable, status, review_message, was_edited, created_at, reviewed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    ON CONFLICT (user_id, id) DO NOTHING";

/// Under a lock of the place, so that two that ask the same at the same time ask once.
async fn ask(db: &Connection, asked: &Review) -> Result<Review, Fault> {
    let place = &asked.execution_id;
    slots::lock(db, &format!("reviews:{place}")).await?;
    let ids = (Text(place.as_str()), Text(asked.user_id.as_str()));
    for row in &db.query(OF_EXECUTION, &[&ids.0, &ids.1]).await? {
        let before = review(row)?;
        let same = before.node_id == asked.node_id && before.payload == asked.payload;
        if same && before.decision().is_none() {
            return Ok(before);
        }
    }
    insert(db, asked).await?;
    let stored = by_id(db, &asked.user_id, &asked.id).await?;
    stored.ok_or_else(|| Fault::broken("a review went as it came"))
}

/// In order, so that the oldest comes first when they are read.
pub(super) async fn insert_all(db: &Connection, reviews: &[Review]) -> Result<(), Fault> {
    if !reviews.is_empty() {
        db.prepare(&[INSERT]).await?;
        try_join_all(reviews.iter().map(|review| insert(db, review))).await?;
    }
    Ok(())
}

async fn insert(db: &Connection, review: &Review) -> Result<(), Fault> {
    let payload = written(&review.payload)?;
    db.query(
        INSERT,
        &[
            &Text(review.user_id.as_str()),
            &Text(review.id.as_str()),
            &Text(review.execution_id.as_str()),
            &Text(review.graph_id.as_str()),
            &(review.graph_version as i32),
            &Text(review.node_id.as_str()),
            &Text(&payload),
            &Text(&review.instructions),
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

async fn by_id(db: &Connection, user: &UserId, id: &ReviewId) -> Result<Option<Review>, Fault> {
    let row = db.query_opt(BY_ID, &[&Text(user.as_str()), &Text(id.as_str())]).await?;
    row.as_ref().map(review).transpose()
}
