//! Keeps a link to the broker: lives with one until anything of it fails, then makes a new one, for as long as it takes.

use std::sync::Arc;
use std::time::Duration;

use lapin::uri::AMQPUri;
use ports::BusSignal;
use tokio::sync::broadcast;
use uuid::Uuid;

use super::cancel::Listener;
use super::desk::Desk;
use super::dial::DialError;
use super::line::Line;
use super::link::{Ends, Link};
use super::names::Names;

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How often the link is looked at: a channel that is closed while nobody uses it tells nobody.
const LOOK: Duration = Duration::from_millis(250);

pub(super) struct Supervisor {
    pub(super) uri: AMQPUri,
    pub(super) names: Names,
    pub(super) line: Arc<Line>,
    pub(super) heard: broadcast::Sender<BusSignal>,
}

impl Supervisor {
    pub(super) async fn keep(self, first: Arc<Link>, ends: Ends) {
        let mut current = Some((first, ends));
        while let Some((link, ends)) = current {
            let reason = self.live_with(&link, ends).await;
            let closing = self.line.closing.clone();
            if !closing.is_cancelled() {
                tracing::warn!(%reason, "the connection to RabbitMQ was lost");
                self.line.down(reason);
            }
            link.close().await;
            // Its sockets are shut here, unless a caller still waits for it, which has a bound.
            drop(link);
            current = tokio::select! {
                next = self.reconnect() => Some(next),
                () = closing.cancelled() => None,
            };
        }
    }

    async fn live_with(&self, link: &Link, ends: Ends) -> String {
        let desk = Desk::new(
            self.line.clone(),
            ends.consuming,
            self.names.queue.clone(),
            link.desk.clone(),
            ends.commands,
        );
        let listener = Listener {
            channel: ends.listening,
            names: self.names.clone(),
            heard: self.heard.clone(),
        };
        tokio::select! {
            reason = desk.run() => reason,
            reason = listener.run() => reason,
            () = link.over.cancelled() => "a call failed".to_owned(),
            () = broken(link) => "a channel was closed".to_owned(),
        }
    }

    async fn reconnect(&self) -> (Arc<Link>, Ends) {
        let mut pause = FIRST_PAUSE;
        let mut told = String::new();
        loop {
            tokio::time::sleep(with_jitter(pause)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            match Link::open(&self.uri, &self.names).await {
                Ok((link, ends)) => {
                    let link = Arc::new(link);
                    self.line.up(link.clone());
                    tracing::info!("connected to RabbitMQ again");
                    return (link, ends);
                }
                Err(error) => {
                    let reason = match error {
                        DialError::TooSlow => "it does not answer".to_owned(),
                        DialError::Failed(error) => error.to_string(),
                    };
                    // Said once, not with every try.
                    if told != reason {
                        tracing::warn!(%reason, "RabbitMQ cannot be reached");
                        self.line.down(reason.clone());
                        told = reason;
                    }
                }
            }
        }
    }
}

async fn broken(link: &Link) {
    let mut look = tokio::time::interval(LOOK);
    loop {
        look.tick().await;
        if !link.whole() {
            return;
        }
    }
}

/// Half to all of the pause, so that processes that lost the broker together do not come back together.
fn with_jitter(pause: Duration) -> Duration {
    let chance = f64::from(Uuid::new_v4().as_bytes()[0]) / 255.0;
    pause.mul_f64(0.5 + chance / 2.0)
}
