//! Decides whether verdicts on reviews are accepted.

use std::collections::HashSet;

use ports::store::{ReviewVerdict, ReviewsDecided};
use protocol::ExecutionId;
use protocol::execution::ExecutionStatus;
use protocol::review::{Review, ReviewStatus};
use serde_json::Value;

use super::error::CheckError;

/// The execution or session that all these reviews belong to; `None` when they belong to several.
pub(crate) fn common_execution(reviews: &[Review]) -> Result<Option<ExecutionId>, CheckError> {
    let Some(first) = reviews.first() else {
        return Err(CheckError::new("nothing to decide"));
    };
    let common = reviews.iter().all(|review| review.execution_id == first.execution_id);
    Ok(common.then(|| first.execution_id.clone()))
}

/// Why the verdicts are refused, if they are. `asked` are the reviews of the verdicts, in their order and all of one
/// execution or session; `run` is the status of that execution, if it is one.
pub(crate) fn refusal(
    verdicts: &[ReviewVerdict],
    asked: &[Review],
    run: Option<ExecutionStatus>,
) -> Option<ReviewsDecided> {
    let mut named = HashSet::new();
    // A review that is named twice counts as decided the second time.
    let before = asked
        .iter()
        .find(|review| review.status != ReviewStatus::Waiting || !named.insert(&review.id));
    if let Some(review) = before {
        return Some(ReviewsDecided::Before(review.id.clone()));
    }
    if run.is_some_and(ExecutionStatus::is_final) {
        return Some(ReviewsDecided::Ended);
    }
    let mut both = verdicts.iter().zip(asked);
    both.find(|(verdict, review)| edit(verdict, review).is_some() && !review.editable)
        .map(|(_, review)| ReviewsDecided::NotEditable(review.id.clone()))
}

/// The new payload, if it changes.
pub(crate) fn edit<'a>(verdict: &'a ReviewVerdict, review: &Review) -> Option<&'a Value> {
    verdict.data.as_ref().filter(|data| **data != review.payload)
}

pub(crate) fn decided_status(verdict: &ReviewVerdict) -> ReviewStatus {
    if verdict.approved { ReviewStatus::Approved } else { ReviewStatus::Rejected }
}
