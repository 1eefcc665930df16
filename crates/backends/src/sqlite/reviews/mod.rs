//! Reviews: decisions that people have to make.

mod ask;
mod decide;
mod find;

use async_trait::async_trait;
use ports::PortResult;
use ports::store::{ReviewVerdict, Reviews, ReviewsDecided};
use protocol::review::Review;
use protocol::{ExecutionId, NodeId, ReviewId, UserId};

use super::SqliteStore;
use super::write_job::{WriteOutput, WritePriority};

pub(crate) use self::ask::{insert, withdraw};
pub(crate) use self::find::any_waiting;

#[async_trait]
impl Reviews for SqliteStore {
    async fn ask(&self, review: &Review) -> PortResult<Review> {
        let review = review.clone();
        self.writer
            .run(WritePriority::Ordinary, move |db| Ok(WriteOutput::silent(ask::ask(db, &review)?)))
            .await
    }

    async fn get(&self, user: &UserId, id: &ReviewId) -> PortResult<Option<Review>> {
        let (user, id) = (user.clone(), id.clone());
        self.readers.run(move |db| find::by_id(db, &user, &id)).await
    }

    async fn pending(
        &self,
        user: &UserId,
        limit: u32,
        offset: u64,
    ) -> PortResult<(Vec<Review>, u64)> {
        let user = user.clone();
        self.readers.run(move |db| find::pending(db, &user, limit, offset)).await
    }

    async fn of_execution(
        &self,
        user: &UserId,
        execution: &ExecutionId,
    ) -> PortResult<Vec<Review>> {
        let (user, execution) = (user.clone(), execution.clone());
        self.readers.run(move |db| find::of_execution(db, &user, &execution)).await
    }

    async fn decide(
        &self,
        user: &UserId,
        verdicts: &[ReviewVerdict],
    ) -> PortResult<ReviewsDecided> {
        let (user, verdicts, now) = (user.clone(), verdicts.to_vec(), self.store_time());
        self.writer
            .run(WritePriority::Essential, move |db| decide::decide(db, now, &user, &verdicts))
            .await
    }

    async fn approved_for_the_rest(
        &self,
        user: &UserId,
        execution: &ExecutionId,
        node: &NodeId,
    ) -> PortResult<bool> {
        let (user, execution, node) = (user.clone(), execution.clone(), node.clone());
        self.readers
            .run(move |db| {
                let approved = db
                    .prepare_cached(
                        "SELECT 1 FROM review_approval
                         WHERE user_id = ?1 AND execution_id = ?2 AND node_id = ?3",
                    )?
                    .exists([user.as_str(), execution.as_str(), node.as_str()])?;
                Ok(approved)
            })
            .await
    }

    async fn remove(&self, user: &UserId, id: &ReviewId) -> PortResult<bool> {
        let (user, id) = (user.clone(), id.clone());
        self.writer
            .run(WritePriority::Essential, move |db| {
                let removed = db
                    .prepare_cached("DELETE FROM review WHERE user_id = ?1 AND id = ?2")?
                    .execute([user.as_str(), id.as_str()])?;
                Ok(WriteOutput::silent(removed > 0))
            })
            .await
    }
}
