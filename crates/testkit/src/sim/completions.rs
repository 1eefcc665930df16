//! `Completions` of a node: messages from external services that complete operations.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::completions::{CompletionMessage, SettleCompletion};
use ports::{Completions, PortResult};

use super::backend::BackendState;
use super::fault_schedule::SimService;
use super::node::{PortCall, SimNode};

/// How often a waiting node polls without a wake-up: an unsettled message becomes available again after a while.
const POLL: Duration = Duration::from_secs(5);

fn call(name: &'static str) -> PortCall {
    // These messages are stored with the logs, so they share their outages.
    PortCall::new(SimService::Log, name, "a completion message")
}

#[async_trait]
impl Completions for SimNode {
    async fn send(&self, body: String) -> PortResult<()> {
        let sim = self.sim.clone();
        let send = move |backend: &mut BackendState| {
            backend.completions.send(body);
            sim.backend.completion_sent.notify_waiters();
            Ok(())
        };
        self.call(call("sends"), send, |()| String::new()).await
    }

    async fn next(&self) -> PortResult<CompletionMessage> {
        loop {
            let completion_sent = self.sim.backend.completion_sent.notified();
            tokio::pin!(completion_sent);
            // Subscribed before the poll, so that no wake-up is lost between the two.
            completion_sent.as_mut().enable();
            self.wait_until_running().await;
            let waits = {
                let state = self.sim.backend.state();
                state.completions.has_available(state.now)
            };
            if waits {
                let number = self.number;
                let take = move |backend: &mut BackendState| {
                    Ok(backend.completions.take(backend.now, number))
                };
                let describe = |taken: &Option<_>| taken.is_some().to_string();
                if let Some((tag, body)) = self.call(call("takes"), take, describe).await?
                    && let Some(node) = self.this.upgrade()
                {
                    return Ok(CompletionMessage::new(
                        body,
                        Box::new(TakenCompletion { tag, node }),
                    ));
                }
            }
            let _ = tokio::time::timeout(POLL, completion_sent).await;
        }
    }
}

struct TakenCompletion {
    tag: u64,
    node: Arc<SimNode>,
}

#[async_trait]
impl SettleCompletion for TakenCompletion {
    async fn ack(&self) -> PortResult<()> {
        let tag = self.tag;
        let ack = move |backend: &mut BackendState| {
            backend.completions.ack(tag);
            Ok(())
        };
        self.node.call(call("acks"), ack, |()| String::new()).await
    }
}
