//! Where deliveries are handed out and taken back. It alone uses the consuming channels, so that what it says there has an
//! order: a consumer whose worker is busy is cancelled before its message is settled, and so the broker never sends a
//! message that has to wait for a worker here while another process has one free.

mod book;
mod consumers;
mod shelf;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use lapin::Channel;
use lapin::options::{BasicAckOptions, BasicNackOptions};
use ports::queue::Delivery;
use protocol::Job;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use self::book::{Afterwards, Book, ConsumerId, End};
use self::consumers::{Consumers, News};
use self::shelf::Shelf;
use super::envelope;
use super::in_hand::InHand;
use super::line::Line;
use super::link::ANSWER;

/// How long a consumer or a message is kept for the next worker when the one it was meant for has gone. Workers seldom go
/// without another coming, and every message that is sent back for nothing counts against its limit.
const LINGER: Duration = Duration::from_millis(500);
/// How long the broker is not told that a message is done, unless its worker comes for the next one: a consumer with an
/// unsettled message gets no other, and to cancel it and open it anew costs the broker two writes to its disks. Short turns
/// do without; for the others this is nothing. If the process dies meanwhile, the message comes back and is found done.
const DONE_UNTOLD: Duration = Duration::from_millis(200);
/// How often a message may be dropped unsettled in this process before it goes back to the broker, which counts.
const DROPS: u32 = 10;

pub(in crate::rabbitmq) enum Command {
    Pop(oneshot::Sender<Delivery>),
    /// A worker that asked has gone.
    GaveUp,
    GiveBack(Arrived),
    Ack(Arrived, oneshot::Sender<()>),
}

/// A message that is in this process and not settled.
#[derive(Debug)]
pub(in crate::rabbitmq) struct Arrived {
    pub(in crate::rabbitmq) job: Job,
    open: Open,
    drops: u32,
}

/// What the broker waits for us to settle.
#[derive(Clone, Copy, Debug)]
struct Open {
    tag: u64,
    consumer: ConsumerId,
}

#[derive(Clone, Copy)]
enum Verdict {
    Done,
    Back,
    Dead,
}

pub(in crate::rabbitmq) struct Desk {
    line: Arc<Line>,
    commands: mpsc::UnboundedReceiver<Command>,
    handle: mpsc::UnboundedSender<Command>,
    consumers: Consumers,
    book: Book,
    waiting: VecDeque<oneshot::Sender<Delivery>>,
    /// Arrived, and in nobody's hand.
    shelf: Shelf<Arrived>,
    /// Done, and the broker does not know yet.
    done: Shelf<Open>,
    surplus_until: Option<Instant>,
}

impl Desk {
    pub(in crate::rabbitmq) fn new(
        line: Arc<Line>,
        channels: Vec<Channel>,
        queue: String,
        handle: mpsc::UnboundedSender<Command>,
        commands: mpsc::UnboundedReceiver<Command>,
    ) -> Self {
        Self {
            line,
            consumers: Consumers::new(channels, queue),
            commands,
            handle,
            book: Book::default(),
            waiting: VecDeque::new(),
            shelf: Shelf::default(),
            done: Shelf::default(),
            surplus_until: None,
        }
    }

    /// Runs until something fails, or the program lets go, and says what it was.
    pub(in crate::rabbitmq) async fn run(mut self) -> String {
        let closing = self.line.closing.clone();
        let mut step = Ok(());
        loop {
            if let Err(reason) = step {
                return reason;
            }
            let due = [self.shelf.next_due(), self.done.next_due(), self.surplus_until];
            let due = due.into_iter().flatten().min();
            step = tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => Err("nobody uses the queue any more".to_owned()),
                },
                (consumer, news) = self.consumers.next() => self.hear(consumer, news).await,
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    self.tidy().await
                }
                () = closing.cancelled() => return self.leave().await,
            };
        }
    }

    async fn obey(&mut self, command: Command) -> Result<(), String> {
        match command {
            Command::Pop(worker) => {
                self.waiting.push_back(worker);
                self.serve().await
            }
            Command::GaveUp => {
                self.waiting.retain(|worker| !worker.is_closed());
                self.note_surplus();
                Ok(())
            }
            Command::GiveBack(arrived) if arrived.drops + 1 >= DROPS => {
                self.settle(arrived.open, Verdict::Back).await
            }
            Command::GiveBack(arrived) => {
                let arrived = Arrived { drops: arrived.drops + 1, ..arrived };
                self.shelf.put_in_front(arrived, Instant::now() + LINGER);
                self.serve().await
            }
            Command::Ack(arrived, told) => {
                if self.book.short(self.waiting.len()) {
                    self.settle(arrived.open, Verdict::Done).await?;
                } else {
                    self.done.put_last(arrived.open, Instant::now() + DONE_UNTOLD);
                }
                // Whoever asked may be gone.
                let _ = told.send(());
                Ok(())
            }
        }
    }

    async fn hear(&mut self, consumer: ConsumerId, news: News) -> Result<(), String> {
        let delivery = match news {
            News::Delivery(delivery) => delivery,
            News::Failed(error) => return Err(error.to_string()),
            News::Ended => {
                return match self.book.ended(consumer) {
                    End::Ours => Ok(()),
                    End::Brokers => Err("the broker ended a consumer".to_owned()),
                };
            }
        };
        self.book.delivered(consumer);
        let open = Open { tag: delivery.delivery_tag, consumer };
        match envelope::read(&delivery.data) {
            Ok(job) => {
                let arrived = Arrived { job, open, drops: 0 };
                self.shelf.put_last(arrived, Instant::now() + LINGER);
                self.serve().await
            }
            Err(unreadable) => {
                let reason = unreadable.word();
                tracing::warn!(reason, "a message that cannot be read went to the dead letters");
                metrics::counter!("pilothouse_dead_letters_total", "reason" => reason).increment(1);
                self.settle(open, Verdict::Dead).await
            }
        }
    }

    /// Hands out what is there, and asks the broker for as much as workers still wait for.
    async fn serve(&mut self) -> Result<(), String> {
        self.waiting.retain(|worker| !worker.is_closed());
        while !self.waiting.is_empty()
            && let Some(arrived) = self.shelf.take()
        {
            if let Some(worker) = self.waiting.pop_front() {
                let job = arrived.job.clone();
                let in_hand = InHand::new(arrived, self.handle.clone(), self.line.clone());
                // A worker that has gone this very moment drops it, which brings it back here.
                let _ = worker.send(Delivery::new(job, Box::new(in_hand)));
            }
        }
        while self.book.short(self.waiting.len())
            && let Some(open) = self.done.take()
        {
            self.settle(open, Verdict::Done).await?;
        }
        while let Some(consumer) = self.book.wanted(self.waiting.len()) {
            self.consumers.open(consumer).await;
        }
        self.note_surplus();
        Ok(())
    }

    async fn settle(&mut self, open: Open, verdict: Verdict) -> Result<(), String> {
        if self.book.settling(open.consumer, self.waiting.len()) == Afterwards::Leaves {
            self.consumers.cancel(open.consumer).await;
        }
        let channel = self.consumers.channel_of(open.consumer).clone();
        let refuse = |requeue| BasicNackOptions { requeue, ..BasicNackOptions::default() };
        match verdict {
            Verdict::Done => bounded(channel.basic_ack(open.tag, BasicAckOptions::default())).await,
            Verdict::Back => bounded(channel.basic_nack(open.tag, refuse(true))).await,
            Verdict::Dead => bounded(channel.basic_nack(open.tag, refuse(false))).await,
        }
    }

    fn note_surplus(&mut self) {
        let surplus = self.book.surplus(self.waiting.len());
        self.surplus_until = match (surplus, self.surplus_until) {
            (true, None) => Some(Instant::now() + LINGER),
            (true, since) => since,
            (false, _) => None,
        };
    }

    /// Sends back what nobody came for.
    async fn tidy(&mut self) -> Result<(), String> {
        let now = Instant::now();
        if self.surplus_until.is_some_and(|until| until <= now) {
            self.surplus_until = None;
            for consumer in self.book.dismiss(self.waiting.len()) {
                self.consumers.cancel(consumer).await;
            }
        }
        while let Some(arrived) = self.shelf.take_overdue(now) {
            self.settle(arrived.open, Verdict::Back).await?;
        }
        while let Some(open) = self.done.take_overdue(now) {
            self.settle(open, Verdict::Done).await?;
        }
        Ok(())
    }

    /// What is done must not come back; everything else goes back with the connection.
    async fn leave(&mut self) -> String {
        while let Some(open) = self.done.take() {
            let channel = self.consumers.channel_of(open.consumer);
            let ack = channel.basic_ack(open.tag, BasicAckOptions::default());
            if let Err(reason) = bounded(ack).await {
                return reason;
            }
        }
        "the program lets go".to_owned()
    }
}

async fn bounded(call: impl Future<Output = lapin::Result<()>>) -> Result<(), String> {
    match tokio::time::timeout(ANSWER, call).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_) => Err("the broker does not answer".to_owned()),
    }
}
