//! One connection to Redis that is reopened in the background whenever it fails. While it is down every request fails
//! at once, so no caller waits for a server that is known to be unreachable.

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, Pipeline, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::server::{REPLY_TIMEOUT, RedisServer};

/// Ping interval: nothing else detects a silently vanished peer on an idle connection.
const PING_INTERVAL: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Handles messages that the server pushes.
pub(crate) type PushHandler = Arc<dyn Fn(Vec<Value>) + Send + Sync>;

pub(crate) struct RedisConnection {
    /// Purpose of the connection, for the log.
    name: &'static str,
    server: RedisServer,
    /// Sent first on every new connection.
    first_command: Option<Cmd>,
    listener: Option<PushHandler>,
    state: Mutex<RedisConnectionState>,
    /// Number of the newest connection.
    made: watch::Sender<u64>,
    lost: Notify,
}

enum RedisConnectionState {
    Up { number: u64, connection: MultiplexedConnection },
    Down { reason: String },
}

/// There is no connection, or it failed. Whether the server executed the request is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RedisUnreachable(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubscriptionChange {
    Subscribe,
    Unsubscribe,
}

impl RedisConnection {
    pub(crate) async fn open(
        name: &'static str,
        server: RedisServer,
        first_command: Option<Cmd>,
        listener: Option<PushHandler>,
    ) -> Result<Arc<Self>, RedisUnreachable> {
        let connection_ref = Arc::new(Self {
            name,
            server,
            first_command,
            listener,
            state: Mutex::new(RedisConnectionState::Down {
                reason: "not connected yet".to_owned(),
            }),
            made: watch::Sender::new(0),
            lost: Notify::new(),
        });
        connection_ref.connect().await?;
        Ok(connection_ref)
    }

    /// Sends all requests at once and returns a reply to each, which may be an error of the server.
    pub(crate) async fn request(
        &self,
        requests: &Pipeline,
        limit: Duration,
    ) -> Result<Vec<Value>, RedisUnreachable> {
        let (number, mut connection) = self.connection()?;
        let replies = connection.send_packed_commands(requests, 0, requests.len());
        self.check_reply(number, timeout(limit, replies).await)
    }

    pub(crate) async fn change_subscriptions(
        &self,
        change: SubscriptionChange,
        channels: &[String],
    ) -> Result<(), RedisUnreachable> {
        let (number, mut connection) = self.connection()?;
        let answer = async {
            match change {
                SubscriptionChange::Subscribe => connection.subscribe(channels).await,
                SubscriptionChange::Unsubscribe => connection.unsubscribe(channels).await,
            }
        };
        self.check_reply(number, timeout(REPLY_TIMEOUT, answer).await)
    }

    /// Changes with every new connection.
    pub(crate) fn connections(&self) -> watch::Receiver<u64> {
        self.made.subscribe()
    }

    /// Keeps the connection open until `end`.
    pub(crate) async fn keep(self: Arc<Self>, end: CancellationToken) {
        let keeping = async {
            loop {
                tokio::select! {
                    () = self.lost.notified() => {}
                    () = sleep(PING_INTERVAL) => {
                        let mut ping = Pipeline::new();
                        ping.cmd("PING");
                        let _ = self.request(&ping, REPLY_TIMEOUT).await;
                    }
                }
                self.restore().await;
            }
        };
        end.run_until_cancelled(keeping).await;
        *self.state() = RedisConnectionState::Down { reason: "closed".to_owned() };
    }

    async fn restore(self: &Arc<Self>) {
        let mut pause = FIRST_PAUSE;
        while self.connection().is_err() {
            sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
            match self.connect().await {
                Ok(()) => tracing::info!(connection_ref = self.name, "Redis is reachable again"),
                Err(error) => {
                    tracing::debug!(connection_ref = self.name, %error, "Redis is still unreachable")
                }
            }
        }
    }

    async fn connect(self: &Arc<Self>) -> Result<(), RedisUnreachable> {
        let number = *self.made.borrow() + 1;
        let config = self.server.patient().set_push_sender(self.push_handler(number));
        let connecting = async {
            let client = &self.server.client;
            let mut connection =
                client.get_multiplexed_async_connection_with_config(&config).await?;
            redis::cmd("PING").exec_async(&mut connection).await?;
            if let Some(first_command) = &self.first_command {
                first_command.exec_async(&mut connection).await?;
            }
            Ok(connection)
        };
        let made = timeout(REPLY_TIMEOUT, connecting).await;
        let connection = made.unwrap_or_else(|_| Err(timed_out())).map_err(|error| {
            let reason = error.to_string();
            *self.state() = RedisConnectionState::Down { reason: reason.clone() };
            RedisUnreachable(reason)
        })?;
        *self.state() = RedisConnectionState::Up { number, connection };
        self.made.send_replace(number);
        Ok(())
    }

    /// Called by the connection itself with every push message, so no queue can build up in between.
    fn push_handler(self: &Arc<Self>, number: u64) -> impl Fn(PushInfo) -> Result<(), ()> + use<> {
        let (connection_ref, listener) = (Arc::downgrade(self), self.listener.clone());
        move |push: PushInfo| {
            match (push.kind, &listener) {
                (PushKind::Disconnection, _) => {
                    if let Some(connection_ref) = Weak::upgrade(&connection_ref) {
                        connection_ref.fail(number, "it closed the connection");
                    }
                }
                (PushKind::Message, Some(hear)) => hear(push.data),
                _ => {}
            }
            Ok(())
        }
    }

    fn connection(&self) -> Result<(u64, MultiplexedConnection), RedisUnreachable> {
        match &*self.state() {
            RedisConnectionState::Up { number, connection } => Ok((*number, connection.clone())),
            RedisConnectionState::Down { reason } => Err(RedisUnreachable(reason.clone())),
        }
    }

    fn check_reply<T>(
        &self,
        number: u64,
        answer: Result<RedisResult<T>, tokio::time::error::Elapsed>,
    ) -> Result<T, RedisUnreachable> {
        answer.unwrap_or_else(|_| Err(timed_out())).map_err(|error| {
            let reason = error.to_string();
            // An error reply is still a reply. A connection that timed out once is replaced.
            if error.code().is_none() {
                self.fail(number, &reason);
            }
            RedisUnreachable(reason)
        })
    }

    fn fail(&self, number: u64, reason: &str) {
        let mut state = self.state();
        // The failure of an old connection does not affect a newer one.
        if matches!(&*state, RedisConnectionState::Up { number: current, .. } if *current == number)
        {
            tracing::warn!(
                connection_ref = self.name,
                reason,
                "Redis does not respond; continuing without it"
            );
            *state = RedisConnectionState::Down { reason: reason.to_owned() };
            drop(state);
            self.lost.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, RedisConnectionState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn timed_out() -> RedisError {
    std::io::Error::new(std::io::ErrorKind::TimedOut, "it does not respond").into()
}
