//! Reviews: decisions that people have to make.

mod ask;
mod decide;
mod find;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{ReviewVerdict, Reviews, ReviewsDecided};
use protocol::review::Review;
use protocol::{ExecutionId, NodeId, ReviewId, UserId};

pub(crate) use self::ask::insert_all;
use super::PostgresStore;
use super::connection::PooledConnection;
use super::text_param::TextParam;

#[async_trait]
impl Reviews for PostgresStore {
    async fn ask(&self, review: &Review) -> PortResult<Review> {
        let (store, review) = (self.clone(), review.clone());
        self.write(async move {
            let db = PooledConnection::begin(&store.pool).await?;
            let review = ask::ask(&db, &review).await?;
            db.commit().await?;
            Ok(review)
        })
        .await
    }

    async fn get(&self, user: &UserId, id: &ReviewId) -> PortResult<Option<Review>> {
        self.read(|db| async move { find::by_id(&db, user, id).await }).await
    }

    async fn pending(
        &self,
        user: &UserId,
        limit: u32,
        offset: u64,
    ) -> PortResult<(Vec<Review>, u64)> {
        self.read(|db| async move { find::pending(&db, user, limit, offset).await }).await
    }

    async fn of_execution(
        &self,
        user: &UserId,
        execution: &ExecutionId,
    ) -> PortResult<Vec<Review>> {
        self.read(|db| async move { find::of_execution(&db, user, execution).await }).await
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
