//! Messages from outside, as one process takes them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::completions::{CompletionMessage, SettleCompletion};
use ports::{Completions, PortResult};

use super::node::{Call, Node};
use super::weather::Service;
use super::world::State;

/// How often somebody who waits looks even when nothing wakes him: others come back after they were out for long.
const POLL: Duration = Duration::from_secs(5);

fn call(name: &'static str) -> Call {
    // Where the logs are kept, these messages are, too.
    Call::new(Service::Log, name, "a message from outside")
}

#[async_trait]
impl Completions for Node {
    async fn send(&self, body: String) -> PortResult<()> {
        let sim = self.sim.clone();
        let send = move |world: &mut State| {
            world.arrivals.send(body);
            sim.world.arrived.notify_waiters();
            Ok(())
        };
        self.call(call("sends"), send, |()| String::new()).await
    }

    async fn next(&self) -> PortResult<CompletionMessage> {
        loop {
            let arrived = self.sim.world.arrived.notified();
            tokio::pin!(arrived);
            // Listening begins before the look, so that nothing falls between the two.
            arrived.as_mut().enable();
            self.alive().await;
            let waits = {
                let state = self.sim.world.state();
                state.arrivals.any(state.now)
            };
            if waits {
                let number = self.number;
                let take = move |world: &mut State| Ok(world.arrivals.take(world.now, number));
                let told = |taken: &Option<_>| taken.is_some().to_string();
                if let Some((tag, body)) = self.call(call("takes"), take, told).await?
                    && let Some(node) = self.me.upgrade()
                {
                    return Ok(CompletionMessage::new(body, Box::new(InHand { tag, node })));
                }
            }
            let _ = tokio::time::timeout(POLL, arrived).await;
        }
    }
}

struct InHand {
    tag: u64,
    node: Arc<Node>,
}

#[async_trait]
impl SettleCompletion for InHand {
    async fn ack(&self) -> PortResult<()> {
        let tag = self.tag;
        let ack = move |world: &mut State| {
            world.arrivals.ack(tag);
            Ok(())
        };
        self.node.call(call("acks"), ack, |()| String::new()).await
    }
}
