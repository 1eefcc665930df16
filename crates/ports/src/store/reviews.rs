//! What people have to decide.

use async_trait::async_trait;
use protocol::review::Review;
use protocol::{ExecutionId, NodeId, ReviewId, UserId};
use serde_json::Value;

use crate::error::PortResult;

/// Reviews of executions are asked for by `Executions::advance`; those of blocks that run by themselves by `ask`.
///
/// Laws: a review is decided once (`a_review_is_decided_once`), all of one request or none
/// (`decisions_are_taken_together_or_not_at_all`); the last decision makes a run that rests due again
/// (`the_last_decision_makes_the_run_due`); one that is asked again with the same payload is the same review
/// (`the_same_question_is_asked_once`); an approval for the rest of a run is found by its later questions
/// (`an_approval_can_hold_for_the_rest_of_a_run`); only its user sees a review (`a_review_is_seen_by_its_user_only`).
#[async_trait]
pub trait Reviews: Send + Sync {
    /// A waiting review of the same place (`execution_id`), node and payload is given back instead.
    async fn ask(&self, review: &Review) -> PortResult<Review>;

    async fn get(&self, user: &UserId, id: &ReviewId) -> PortResult<Option<Review>>;

    /// Those that wait, the oldest first; and how many there are in all.
    async fn pending(
        &self,
        user: &UserId,
        limit: u32,
        offset: u64,
    ) -> PortResult<(Vec<Review>, u64)>;

    /// Of one execution, decided or not, the oldest first.
    async fn of_execution(&self, user: &UserId, execution: &ExecutionId)
    -> PortResult<Vec<Review>>;

    /// All of one execution: it may be RUNNING or in REVIEW, or no execution at all (a session's place).
    async fn decide(&self, user: &UserId, verdicts: &[ReviewVerdict])
    -> PortResult<ReviewsDecided>;

    /// Whether a person has approved this node for the rest of the run.
    async fn approved_for_the_rest(
        &self,
        user: &UserId,
        execution: &ExecutionId,
        node: &NodeId,
    ) -> PortResult<bool>;

    /// Removes one that has served. `false`: there was none.
    async fn remove(&self, user: &UserId, id: &ReviewId) -> PortResult<bool>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReviewVerdict {
    pub id: ReviewId,
    pub approved: bool,
    pub message: Option<String>,
    /// Replaces the payload of an editable review.
    pub data: Option<Value>,
    /// Approve this node for the rest of the run, too.
    pub for_the_rest: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReviewsDecided {
    /// The run may be pushed to the queue when `due`.
    Done { reviews: Vec<Review>, execution: ExecutionId, due: bool },
    /// One of them is unknown. Nothing was changed.
    Unknown(ReviewId),
    /// They belong to different runs. Nothing was changed.
    Mixed,
    /// One of them was decided before. Nothing was changed.
    Before(ReviewId),
    /// The run has ended. Nothing was changed.
    Ended,
    /// One of them cannot be edited. Nothing was changed.
    NotEditable(ReviewId),
}
