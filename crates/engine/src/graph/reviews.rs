//! What people decide: taken once, and the run goes on by the queue.

use ports::store::{Decided, Verdict};
use ports::{PortResult, Signal};
use protocol::UserId;

use crate::Engine;

impl Engine {
    pub async fn decide_reviews(&self, user: &UserId, verdicts: &[Verdict]) -> PortResult<Decided> {
        let decided = self.inner.ports.reviews.decide(user, verdicts).await?;
        if let Decided::Done { execution, due, .. } = &decided {
            if *due {
                self.inner.push_execution(execution).await;
            }
            self.inner.ports.bus.publish(Signal::Moved(execution.clone()));
        }
        Ok(decided)
    }
}
