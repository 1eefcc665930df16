//! Reviews: what a person is asked, and the decisions. Each decision is accepted once; the execution continues through
//! the queue.

use jiff::Timestamp;
use ports::block::{NodePlace, ReviewRequest};
use ports::store::{ReviewVerdict, ReviewsDecided};
use ports::{BusSignal, PortResult};
use protocol::review::{Review, ReviewStatus};
use protocol::{ReviewId, UserId};

use crate::Engine;

impl Engine {
    pub async fn decide_reviews(
        &self,
        user: &UserId,
        verdicts: &[ReviewVerdict],
    ) -> PortResult<ReviewsDecided> {
        let decided = self.inner.ports.reviews.decide(user, verdicts).await?;
        if let ReviewsDecided::Done { execution, due, .. } = &decided {
            if *due {
                self.inner.push(execution).await;
            }
            self.inner.ports.bus.publish(BusSignal::Moved(execution.clone()));
        }
        Ok(decided)
    }
}

/// A review that waits for its decision.
pub(crate) fn waiting_review(
    id: ReviewId,
    user_id: UserId,
    place: NodePlace,
    ask: ReviewRequest,
    created_at: Timestamp,
) -> Review {
    Review {
        id,
        user_id,
        execution_id: place.execution_id,
        graph_id: place.graph_id,
        graph_version: place.graph_version,
        node_id: place.node_id,
        payload: ask.payload,
        instructions: ask.instructions,
        editable: ask.editable,
        status: ReviewStatus::Waiting,
        review_message: None,
        was_edited: false,
        created_at,
        reviewed_at: None,
    }
}
