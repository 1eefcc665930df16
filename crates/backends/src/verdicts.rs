//! Whether what a person has said about reviews may be taken, decided from the reviews as they are.

use std::collections::HashSet;

use ports::store::{ReviewVerdict, ReviewsDecided};
use protocol::execution::ExecutionStatus;
use protocol::review::{Review, ReviewStatus};
use serde_json::Value;

/// Why nothing is decided, if anything speaks against it. `asked` are the reviews of the verdicts, in their order and all
/// of one place; `run` is how the execution stands that they belong to, if it is one.
pub(crate) fn refusal(
    verdicts: &[ReviewVerdict],
    asked: &[Review],
    run: Option<ExecutionStatus>,
) -> Option<ReviewsDecided> {
    let mut named = HashSet::new();
    // One that is named twice was decided by the time it is named again.
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

/// What the payload becomes, if it changes.
pub(crate) fn edit<'a>(verdict: &'a ReviewVerdict, review: &Review) -> Option<&'a Value> {
    verdict.data.as_ref().filter(|data| **data != review.payload)
}
