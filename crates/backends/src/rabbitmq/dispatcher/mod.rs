//! Dispatcher: passes deliveries from the broker to waiting workers, and settles them. It alone uses the consuming
//! channels, so that requests on them are ordered: a consumer whose worker is busy is cancelled before its message is
//! settled. So the broker never sends a message that waits for a worker here while another process has a free one.

mod consumer_ledger;
mod consumer_set;
mod hold_queue;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use lapin::Channel;
use lapin::options::{BasicAckOptions, BasicNackOptions};
use ports::queue::Delivery;
use protocol::Job;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use self::consumer_ledger::{AfterSettle, ConsumerEnd, ConsumerId, ConsumerLedger};
use self::consumer_set::{ConsumerEvent, ConsumerSet};
use self::hold_queue::HoldQueue;
use super::connection::ANSWER;
use super::connection_state::ConnectionState;
use super::envelope;
use super::unsettled_delivery::UnsettledDelivery;

/// How long a consumer or a message is kept for the next worker after its own worker stopped waiting. Usually another
/// worker comes soon, and every message returned to the broker counts against its delivery limit.
const KEEP_FOR_NEXT_WORKER: Duration = Duration::from_millis(500);
/// How long an acknowledgement is withheld from the broker, unless a worker asks for the next message: a consumer with
/// an unsettled message gets no other, and cancelling and reopening it costs the broker two disk writes. Short turns
/// save these writes; for long ones the delay does not matter. If the process dies meanwhile, the message is delivered
/// again and its job is found done.
const ACK_DELAY: Duration = Duration::from_millis(200);
/// How often a message may be dropped unsettled in this process before it is returned to the broker, which counts
/// deliveries.
const MAX_DROPS: u32 = 10;

pub(crate) enum DispatcherCommand {
    Pop(oneshot::Sender<Delivery>),
    /// A waiting worker is gone.
    WorkerGone,
    GiveBack(UnsettledMessage),
    Ack(UnsettledMessage, oneshot::Sender<()>),
}

/// A message that this process received and has not settled.
#[derive(Debug)]
pub(crate) struct UnsettledMessage {
    pub(crate) job: Job,
    delivery: BrokerDelivery,
    drops: u32,
}

/// Identifies a delivery that the broker expects us to settle.
#[derive(Clone, Copy, Debug)]
struct BrokerDelivery {
    tag: u64,
    consumer: ConsumerId,
}

#[derive(Clone, Copy)]
enum SettleMode {
    Ack,
    Requeue,
    DeadLetter,
}

pub(crate) struct Dispatcher {
    connection_state: Arc<ConnectionState>,
    commands: mpsc::UnboundedReceiver<DispatcherCommand>,
    command_sender: mpsc::UnboundedSender<DispatcherCommand>,
    consumers: ConsumerSet,
    ledger: ConsumerLedger,
    waiting: VecDeque<oneshot::Sender<Delivery>>,
    /// Received, and not passed to a worker.
    received: HoldQueue<UnsettledMessage>,
    /// Acknowledged by the worker, and not yet to the broker.
    unacknowledged: HoldQueue<BrokerDelivery>,
    surplus_until: Option<Instant>,
}

impl Dispatcher {
    pub(crate) fn new(
        connection_state: Arc<ConnectionState>,
        channels: Vec<Channel>,
        queue: String,
        command_sender: mpsc::UnboundedSender<DispatcherCommand>,
        commands: mpsc::UnboundedReceiver<DispatcherCommand>,
    ) -> Self {
        Self {
            connection_state,
            consumers: ConsumerSet::new(channels, queue),
            commands,
            command_sender,
            ledger: ConsumerLedger::default(),
            waiting: VecDeque::new(),
            received: HoldQueue::default(),
            unacknowledged: HoldQueue::default(),
            surplus_until: None,
        }
    }

    /// Runs until something fails or the program closes the connection, and returns the reason.
    pub(crate) async fn run(mut self) -> String {
        let closing = self.connection_state.closing.clone();
        let mut step = Ok(());
        loop {
            if let Err(reason) = step {
                return reason;
            }
            let due = [
                self.received.next_deadline(),
                self.unacknowledged.next_deadline(),
                self.surplus_until,
            ];
            let due = due.into_iter().flatten().min();
            step = tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.handle_command(command).await,
                    None => Err("the queue is no longer used".to_owned()),
                },
                (consumer, event) = self.consumers.next() => self.handle_event(consumer, event).await,
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    self.expire().await
                }
                () = closing.cancelled() => return self.flush().await,
            };
        }
    }

    async fn handle_command(&mut self, command: DispatcherCommand) -> Result<(), String> {
        match command {
            DispatcherCommand::Pop(worker) => {
                self.waiting.push_back(worker);
                self.dispatch().await
            }
            DispatcherCommand::WorkerGone => {
                self.waiting.retain(|worker| !worker.is_closed());
                self.update_surplus();
                Ok(())
            }
            DispatcherCommand::GiveBack(message) if message.drops + 1 >= MAX_DROPS => {
                self.settle(message.delivery, SettleMode::Requeue).await
            }
            DispatcherCommand::GiveBack(message) => {
                let message = UnsettledMessage { drops: message.drops + 1, ..message };
                self.received.push_front(message, Instant::now() + KEEP_FOR_NEXT_WORKER);
                self.dispatch().await
            }
            DispatcherCommand::Ack(message, reply) => {
                if self.ledger.is_short(self.waiting.len()) {
                    self.settle(message.delivery, SettleMode::Ack).await?;
                } else {
                    self.unacknowledged.push_back(message.delivery, Instant::now() + ACK_DELAY);
                }
                // The caller may be gone.
                let _ = reply.send(());
                Ok(())
            }
        }
    }

    async fn handle_event(
        &mut self,
        consumer: ConsumerId,
        event: ConsumerEvent,
    ) -> Result<(), String> {
        let received = match event {
            ConsumerEvent::Delivery(received) => received,
            ConsumerEvent::Failed(error) => return Err(error.to_string()),
            ConsumerEvent::Ended => {
                return match self.ledger.record_end(consumer) {
                    ConsumerEnd::Cancelled => Ok(()),
                    ConsumerEnd::ByBroker => Err("the broker ended a consumer".to_owned()),
                };
            }
        };
        self.ledger.record_delivery(consumer);
        let delivery = BrokerDelivery { tag: received.delivery_tag, consumer };
        match envelope::read(&received.data) {
            Ok(job) => {
                let message = UnsettledMessage { job, delivery, drops: 0 };
                self.received.push_back(message, Instant::now() + KEEP_FOR_NEXT_WORKER);
                self.dispatch().await
            }
            Err(unreadable) => {
                let reason = unreadable.reason_label();
                tracing::warn!(reason, "an unreadable message was sent to the dead-letter queue");
                metrics::counter!("pilothouse_dead_letters_total", "reason" => reason).increment(1);
                self.settle(delivery, SettleMode::DeadLetter).await
            }
        }
    }

    /// Passes messages to waiting workers, and opens consumers for the workers that still wait.
    async fn dispatch(&mut self) -> Result<(), String> {
        self.waiting.retain(|worker| !worker.is_closed());
        while !self.waiting.is_empty()
            && let Some(message) = self.received.pop_front()
        {
            if let Some(worker) = self.waiting.pop_front() {
                let job = message.job.clone();
                let unsettled = UnsettledDelivery::new(
                    message,
                    self.command_sender.clone(),
                    self.connection_state.clone(),
                );
                // If the worker is gone by now, the delivery is dropped and returns here.
                let _ = worker.send(Delivery::new(job, Box::new(unsettled)));
            }
        }
        while self.ledger.is_short(self.waiting.len())
            && let Some(delivery) = self.unacknowledged.pop_front()
        {
            self.settle(delivery, SettleMode::Ack).await?;
        }
        while let Some(consumer) = self.ledger.open_one(self.waiting.len()) {
            self.consumers.open(consumer).await;
        }
        self.update_surplus();
        Ok(())
    }

    async fn settle(&mut self, delivery: BrokerDelivery, mode: SettleMode) -> Result<(), String> {
        if self.ledger.before_settle(delivery.consumer, self.waiting.len()) == AfterSettle::Cancel {
            self.consumers.cancel(delivery.consumer).await;
        }
        let channel = self.consumers.channel_of(delivery.consumer).clone();
        let nack = |requeue| BasicNackOptions { requeue, ..BasicNackOptions::default() };
        match mode {
            SettleMode::Ack => {
                bounded(channel.basic_ack(delivery.tag, BasicAckOptions::default())).await
            }
            SettleMode::Requeue => bounded(channel.basic_nack(delivery.tag, nack(true))).await,
            SettleMode::DeadLetter => bounded(channel.basic_nack(delivery.tag, nack(false))).await,
        }
    }

    fn update_surplus(&mut self) {
        let surplus = self.ledger.has_surplus(self.waiting.len());
        self.surplus_until = match (surplus, self.surplus_until) {
            (true, None) => Some(Instant::now() + KEEP_FOR_NEXT_WORKER),
            (true, since) => since,
            (false, _) => None,
        };
    }

    /// Cancels surplus consumers, returns messages that no worker took, and sends the acknowledgements that are due.
    async fn expire(&mut self) -> Result<(), String> {
        let now = Instant::now();
        if self.surplus_until.is_some_and(|until| until <= now) {
            self.surplus_until = None;
            for consumer in self.ledger.remove_surplus(self.waiting.len()) {
                self.consumers.cancel(consumer).await;
            }
        }
        while let Some(message) = self.received.pop_expired(now) {
            self.settle(message.delivery, SettleMode::Requeue).await?;
        }
        while let Some(delivery) = self.unacknowledged.pop_expired(now) {
            self.settle(delivery, SettleMode::Ack).await?;
        }
        Ok(())
    }

    /// Sends the withheld acknowledgements; everything else is requeued when the connection closes.
    async fn flush(&mut self) -> String {
        while let Some(delivery) = self.unacknowledged.pop_front() {
            let channel = self.consumers.channel_of(delivery.consumer);
            let ack = channel.basic_ack(delivery.tag, BasicAckOptions::default());
            if let Err(reason) = bounded(ack).await {
                return reason;
            }
        }
        "the program is closing".to_owned()
    }
}

async fn bounded(call: impl Future<Output = lapin::Result<()>>) -> Result<(), String> {
    match tokio::time::timeout(ANSWER, call).await {
        Ok(unacknowledged) => unacknowledged.map_err(|error| error.to_string()),
        Err(_) => Err("the broker does not answer".to_owned()),
    }
}
