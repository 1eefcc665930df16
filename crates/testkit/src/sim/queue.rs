//! The queue as one process reaches it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::queue::{Delivery, SettleDelivery};
use ports::{PortResult, Queue};
use protocol::Job;

use super::node::{Call, Node};
use super::weather::Service;
use super::world::{Look, Moment, State};

/// How often a waiting worker looks even when nothing wakes it.
const POLL: Duration = Duration::from_secs(5);

fn queue(name: &'static str, about: impl ToString) -> Call {
    Call::new(Service::Queue, name, about)
}

#[async_trait]
impl Queue for Node {
    async fn push(&self, job: &Job) -> PortResult<()> {
        let (repeated, reordered) = {
            let weather = &self.sim.weather;
            let bad = !weather.is_over(self.sim.world.now());
            let mut dice = self.sim.dice();
            (bad && dice.chance(weather.repeated), bad && dice.chance(weather.reordered))
        };
        let (pushed, sim) = (job.clone(), self.sim.clone());
        let effect = move |world: &mut State| {
            let now = world.now;
            if repeated {
                world.line.push(pushed.clone(), now);
            }
            if reordered {
                world.line.push_in(pushed, now);
            } else {
                world.line.push(pushed, now);
            }
            sim.world.line_grew.notify_waiters();
            Ok(())
        };
        self.call(queue("pushes", job), effect, |()| String::new()).await
    }

    async fn pop(&self) -> PortResult<Delivery> {
        loop {
            let grown = self.sim.world.line_grew.notified();
            tokio::pin!(grown);
            // Listening begins before the look, so that nothing falls between the two.
            grown.as_mut().enable();
            self.alive().await;
            let mut wait = POLL;
            if self.sim.world.state().line.depth() > 0 {
                match self.look().await? {
                    // Made together with the look: lost on the way, it goes back by itself.
                    Popped::Delivery(delivery) => return Ok(delivery),
                    Popped::Later(at) => {
                        let left = at.map_or(POLL, |at| at.saturating_sub(self.sim.world.now()));
                        wait = left.clamp(Duration::from_millis(1), POLL);
                    }
                }
            }
            let _ = tokio::time::timeout(wait, grown).await;
        }
    }

    async fn depth(&self) -> PortResult<u64> {
        let depth = |world: &mut State| Ok(world.line.depth() as u64);
        self.call(queue("asks", "for the depth"), depth, |depth| depth.to_string()).await
    }
}

enum Popped {
    Delivery(Delivery),
    Later(Option<Moment>),
}

impl Node {
    async fn look(&self) -> PortResult<Popped> {
        let me = self.me.clone();
        let look = move |world: &mut State| {
            let Some(node) = me.upgrade() else { return Ok(Popped::Later(None)) };
            Ok(match world.line.take(world.now, node.number) {
                Look::Found { tag, job } => {
                    Popped::Delivery(Delivery::new(job, Box::new(InHand { tag, node })))
                }
                Look::Later(at) => Popped::Later(at),
            })
        };
        let told = |popped: &Popped| match popped {
            Popped::Delivery(delivery) => delivery.job.to_string(),
            Popped::Later(_) => "nothing".to_owned(),
        };
        self.call(queue("pops", ""), look, told).await
    }
}

/// A job that somebody works on.
struct InHand {
    tag: u64,
    node: Arc<Node>,
}

#[async_trait]
impl SettleDelivery for InHand {
    async fn ack(&self) -> PortResult<()> {
        let tag = self.tag;
        let ack = move |world: &mut State| {
            world.line.ack(tag);
            Ok(())
        };
        self.node.call(queue("acks", tag), ack, |()| String::new()).await
    }

    async fn to_back(&self, delay: Duration) -> PortResult<()> {
        let (tag, sim) = (self.tag, self.node.sim.clone());
        let to_back = move |world: &mut State| {
            let ready = world.now + delay;
            world.line.put_last(tag, ready);
            sim.world.line_grew.notify_waiters();
            Ok(())
        };
        self.node.call(queue("puts back", tag), to_back, |()| String::new()).await
    }

    fn give_back(&self) {
        // The connection of a dead process is gone: the broker has taken everything back already.
        if !self.node.is_dead() {
            let world = &self.node.sim.world;
            let mut state = world.state();
            let now = state.now;
            state.line.give_back(self.tag, now);
            drop(state);
            world.line_grew.notify_waiters();
        }
    }
}
