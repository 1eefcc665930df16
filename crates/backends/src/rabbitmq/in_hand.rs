//! A delivery that a worker has in hand, and how it is settled.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ports::PortResult;
use ports::queue::SettleDelivery;
use protocol::Job;
use tokio::sync::{mpsc, oneshot};

use super::desk::{Arrived, Command};
use super::fault::unavailable;
use super::line::Line;
use super::link::ANSWER;

/// Brokers take a message away from a consumer that keeps it for half an hour.
const LONGEST_DELAY: Duration = Duration::from_secs(15 * 60);

pub(super) struct InHand {
    /// Whoever takes it out is the one who settles it, once.
    arrived: Mutex<Option<Arrived>>,
    desk: mpsc::UnboundedSender<Command>,
    line: Arc<Line>,
}

impl InHand {
    pub(super) fn new(
        arrived: Arrived,
        desk: mpsc::UnboundedSender<Command>,
        line: Arc<Line>,
    ) -> Self {
        Self { arrived: Mutex::new(Some(arrived)), desk, line }
    }

    fn take(&self) -> Option<Arrived> {
        self.arrived.lock().expect("no code panics while it holds this lock").take()
    }

    fn job(&self) -> Option<Job> {
        let arrived = self.arrived.lock().expect("no code panics while it holds this lock");
        arrived.as_ref().map(|arrived| arrived.job.clone())
    }
}

#[async_trait]
impl SettleDelivery for InHand {
    async fn ack(&self) -> PortResult<()> {
        match self.take() {
            Some(arrived) => ack(&self.desk, arrived).await,
            None => Ok(()),
        }
    }

    /// Published anew, then acknowledged, so that there is no moment at which nobody has it. The broker's own way of giving
    /// back puts a message in front of the others, where it would be found again at once.
    async fn to_back(&self, delay: Duration) -> PortResult<()> {
        if delay.is_zero() {
            if let Some(job) = self.job() {
                self.line.publish(&job).await?;
            }
            return self.ack().await;
        }
        if let Some(arrived) = self.take() {
            let (desk, line) = (self.desk.clone(), self.line.clone());
            self.line.tasks.spawn(later(delay.min(LONGEST_DELAY), arrived, desk, line));
        }
        Ok(())
    }

    fn give_back(&self) {
        if let Some(arrived) = self.take() {
            // A desk that is gone has lost its channel, and the broker has the message back.
            let _ = self.desk.send(Command::GiveBack(arrived));
        }
    }
}

async fn ack(desk: &mpsc::UnboundedSender<Command>, arrived: Arrived) -> PortResult<()> {
    let (done, acked) = oneshot::channel();
    let lost = || unavailable("the connection was lost, the delivery comes back");
    desk.send(Command::Ack(arrived, done)).map_err(|_| lost())?;
    // The desk has a bound for every call; behind several of them this one has to have its own.
    match tokio::time::timeout(ANSWER, acked).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(lost()),
    }
}

/// Until the delay is over the message stays with this process, unsettled: if the process dies, it comes back.
async fn later(
    delay: Duration,
    arrived: Arrived,
    desk: mpsc::UnboundedSender<Command>,
    line: Arc<Line>,
) {
    tokio::select! {
        () = tokio::time::sleep(delay) => {}
        () = desk.closed() => return,
        () = line.closing.cancelled() => return,
    }
    let settled = match line.publish(&arrived.job).await {
        Ok(()) => ack(&desk, arrived).await,
        Err(error) => {
            let _ = desk.send(Command::GiveBack(arrived));
            Err(error)
        }
    };
    if let Err(error) = settled {
        tracing::warn!(%error, "a job that was put off could not be put at the end of the queue");
    }
}
