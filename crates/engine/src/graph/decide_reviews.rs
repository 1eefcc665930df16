//! Stores the decisions of reviewers. Each is accepted once; the execution continues through the queue.

use ports::store::{ReviewVerdict, ReviewsDecided};
use ports::{BusSignal, PortResult};
use protocol::UserId;

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
                self.inner.push_execution(execution).await;
            }
            self.inner.ports.bus.publish(BusSignal::Moved(execution.clone()));
        }
        Ok(decided)
    }
}
