//! A delivery that a worker holds, and how it is settled.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ports::PortResult;
use ports::queue::SettleDelivery;
use protocol::Job;
use tokio::sync::{mpsc, oneshot};

use super::connection::ANSWER;
use super::connection_state::ConnectionState;
use super::dispatcher::{DispatcherCommand, UnsettledMessage};
use super::fault::unavailable;

/// Below the half hour after which a broker takes a message away from its consumer.
const LONGEST_DELAY: Duration = Duration::from_secs(15 * 60);

pub(crate) struct UnsettledDelivery {
    /// Taken out by the call that settles it, so that it is settled once.
    message: Mutex<Option<UnsettledMessage>>,
    dispatcher: mpsc::UnboundedSender<DispatcherCommand>,
    connection_state: Arc<ConnectionState>,
}

impl UnsettledDelivery {
    pub(crate) fn new(
        message: UnsettledMessage,
        dispatcher: mpsc::UnboundedSender<DispatcherCommand>,
        connection_state: Arc<ConnectionState>,
    ) -> Self {
        Self { message: Mutex::new(Some(message)), dispatcher, connection_state }
    }

    fn take(&self) -> Option<UnsettledMessage> {
        self.message.lock().expect("no code panics while it holds this lock").take()
    }

    fn job(&self) -> Option<Job> {
        let message = self.message.lock().expect("no code panics while it holds this lock");
        message.as_ref().map(|message| message.job.clone())
    }
}

#[async_trait]
impl SettleDelivery for UnsettledDelivery {
    async fn ack(&self) -> PortResult<()> {
        match self.take() {
            Some(message) => ack(&self.dispatcher, message).await,
            None => Ok(()),
        }
    }

    /// Publishes the job again, then acknowledges it, so that it is never missing. The broker's own requeue puts a
    /// message at the front of the queue, where it would be delivered again at once.
    async fn to_back(&self, delay: Duration) -> PortResult<()> {
        if delay.is_zero() {
            if let Some(job) = self.job() {
                self.connection_state.publish(&job).await?;
            }
            return self.ack().await;
        }
        if let Some(message) = self.take() {
            let (dispatcher, connection_state) =
                (self.dispatcher.clone(), self.connection_state.clone());
            self.connection_state.tasks.spawn(requeue_later(
                delay.min(LONGEST_DELAY),
                message,
                dispatcher,
                connection_state,
            ));
        }
        Ok(())
    }

    fn give_back(&self) {
        if let Some(message) = self.take() {
            // If the dispatcher is gone, so is its channel, and the broker has already requeued the message.
            let _ = self.dispatcher.send(DispatcherCommand::GiveBack(message));
        }
    }
}

async fn ack(
    dispatcher: &mpsc::UnboundedSender<DispatcherCommand>,
    message: UnsettledMessage,
) -> PortResult<()> {
    let (done, acked) = oneshot::channel();
    let lost = || unavailable("the connection was lost; the job will be delivered again");
    dispatcher.send(DispatcherCommand::Ack(message, done)).map_err(|_| lost())?;
    // The dispatcher limits each call to the broker; waiting behind several of them needs a limit too.
    match tokio::time::timeout(ANSWER, acked).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(lost()),
    }
}

/// Requeues the job after the delay. Until then the message stays unsettled in this process: if the process dies, the
/// broker delivers it again.
async fn requeue_later(
    delay: Duration,
    message: UnsettledMessage,
    dispatcher: mpsc::UnboundedSender<DispatcherCommand>,
    connection_state: Arc<ConnectionState>,
) {
    tokio::select! {
        () = tokio::time::sleep(delay) => {}
        () = dispatcher.closed() => return,
        () = connection_state.closing.cancelled() => return,
    }
    let settled = match connection_state.publish(&message.job).await {
        Ok(()) => ack(&dispatcher, message).await,
        Err(error) => {
            let _ = dispatcher.send(DispatcherCommand::GiveBack(message));
            Err(error)
        }
    };
    if let Err(error) = settled {
        tracing::warn!(%error, "a delayed job could not be requeued");
    }
}
