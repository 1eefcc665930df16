//! Reviews: decisions that people have to make.

use async_trait::async_trait;
use protocol::review::Review;
use protocol::{ExecutionId, NodeId, ReviewId, UserId};
use serde_json::Value;

use crate::error::PortResult;

/// Reviews of executions are requested by `Executions::advance`; those of blocks that run on their own by `ask`.
///
/// Laws: a review is decided once (`a_review_is_decided_once`), all of one request or none
/// (`decisions_are_stored_together_or_not_at_all`); the last decision makes a waiting execution due again
/// (`the_last_decision_makes_the_execution_due`); a repeated request with the same payload is the same review
/// (`the_same_review_is_requested_once`); an approval for the rest of an execution applies to its later requests
/// (`an_approval_can_hold_for_the_rest_of_an_execution`); a review is visible to its user only
/// (`a_review_is_seen_by_its_user_only`).
#[async_trait]
pub trait Reviews: Send + Sync {
    /// A pending review with the same `execution_id`, node and payload is returned instead.
    async fn ask(&self, review: &Review) -> PortResult<Review>;

    async fn get(&self, user: &UserId, id: &ReviewId) -> PortResult<Option<Review>>;

    /// The pending ones, oldest first, with the total number.
    async fn pending(
        &self,
        user: &UserId,
        limit: u32,
        offset: u64,
    ) -> PortResult<(Vec<Review>, u64)>;

    /// The reviews of one execution, decided or not, oldest first.
    async fn of_execution(&self, user: &UserId, execution: &ExecutionId)
    -> PortResult<Vec<Review>>;

    /// All from one execution, which may be RUNNING or in REVIEW, or from a session's own blocks.
    async fn decide(&self, user: &UserId, verdicts: &[ReviewVerdict])
    -> PortResult<ReviewsDecided>;

    /// Whether this node is approved for the rest of the execution.
    async fn approved_for_the_rest(
        &self,
        user: &UserId,
        execution: &ExecutionId,
        node: &NodeId,
    ) -> PortResult<bool>;

    /// Removes a review that was used. `false`: there was none.
    async fn remove(&self, user: &UserId, id: &ReviewId) -> PortResult<bool>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReviewVerdict {
    pub id: ReviewId,
    pub approved: bool,
    pub message: Option<String>,
    /// Replaces the payload of an editable review.
    pub data: Option<Value>,
    /// Also approve this node for the rest of the execution.
    pub for_the_rest: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReviewsDecided {
    /// The execution may be pushed to the queue when `due`.
    Done { reviews: Vec<Review>, execution: ExecutionId, due: bool },
    /// One of them does not exist. Nothing was changed.
    Unknown(ReviewId),
    /// They belong to different executions. Nothing was changed.
    Mixed,
    /// One of them has already been decided. Nothing was changed.
    Before(ReviewId),
    /// The execution has ended. Nothing was changed.
    Ended,
    /// One of them cannot be edited. Nothing was changed.
    NotEditable(ReviewId),
}
