//! One connection to Redis that is made anew, in the background, whenever it fails. While there is none every question
//! fails at once, so nobody waits for a server that is known not to answer.

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, Pipeline, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::server::{PATIENCE, Server};

/// A connection that nobody uses is tried out this often: a peer that vanished without a word is noticed by nothing else.
const TRIED_OUT: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What to do with what the server says unasked.
pub(super) type Listener = Arc<dyn Fn(Vec<Value>) + Send + Sync>;

pub(super) struct Link {
    /// What it is for, to be named in the log.
    name: &'static str,
    server: Server,
    /// Sent first on every new connection.
    greeting: Option<Cmd>,
    listener: Option<Listener>,
    state: Mutex<State>,
    /// The number of the newest connection.
    made: watch::Sender<u64>,
    lost: Notify,
}

enum State {
    Up { number: u64, connection: MultiplexedConnection },
    Down { reason: String },
}

/// There is no connection, or there is none any more. Whether the server did what it was asked to is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unreachable(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    Subscribe,
    Unsubscribe,
}

impl Link {
    pub(super) async fn open(
        name: &'static str,
        server: Server,
        greeting: Option<Cmd>,
        listener: Option<Listener>,
    ) -> Result<Arc<Self>, Unreachable> {
        let link = Arc::new(Self {
            name,
            server,
            greeting,
            listener,
            state: Mutex::new(State::Down { reason: "not connected yet".to_owned() }),
            made: watch::Sender::new(0),
            lost: Notify::new(),
        });
        link.connect().await?;
        Ok(link)
    }

    /// Sends it all at once and gives an answer to each, which may be that the server refused.
    pub(super) async fn ask(
        &self,
        questions: &Pipeline,
        patience: Duration,
    ) -> Result<Vec<Value>, Unreachable> {
        let (number, mut connection) = self.connection()?;
        let answers = connection.send_packed_commands(questions, 0, questions.len());
        self.judge(number, timeout(patience, answers).await)
    }

    pub(super) async fn listen(
        &self,
        interest: Interest,
        channels: &[String],
    ) -> Result<(), Unreachable> {
        let (number, mut connection) = self.connection()?;
        let answer = async {
            match interest {
                Interest::Subscribe => connection.subscribe(channels).await,
                Interest::Unsubscribe => connection.unsubscribe(channels).await,
            }
        };
        self.judge(number, timeout(PATIENCE, answer).await)
    }

    /// Changes with every new connection.
    pub(super) fn made(&self) -> watch::Receiver<u64> {
        self.made.subscribe()
    }

    /// Keeps the connection up until the end.
    pub(super) async fn keep(self: Arc<Self>, end: CancellationToken) {
        let keeping = async {
            loop {
                tokio::select! {
                    () = self.lost.notified() => {}
                    () = sleep(TRIED_OUT) => {
                        let mut ping = Pipeline::new();
                        ping.cmd("PING");
                        let _ = self.ask(&ping, PATIENCE).await;
                    }
                }
                self.restore().await;
            }
        };
        end.run_until_cancelled(keeping).await;
        *self.state() = State::Down { reason: "closed".to_owned() };
    }

    async fn restore(self: &Arc<Self>) {
        let mut pause = FIRST_PAUSE;
        while self.connection().is_err() {
            sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
            match self.connect().await {
                Ok(()) => tracing::info!(link = self.name, "Redis is there again"),
                Err(error) => tracing::debug!(link = self.name, %error, "Redis is still not there"),
            }
        }
    }

    async fn connect(self: &Arc<Self>) -> Result<(), Unreachable> {
        let number = *self.made.borrow() + 1;
        let config = self.server.patient().set_push_sender(self.ear(number));
        let connecting = async {
            let client = &self.server.client;
            let mut connection =
                client.get_multiplexed_async_connection_with_config(&config).await?;
            redis::cmd("PING").exec_async(&mut connection).await?;
            if let Some(greeting) = &self.greeting {
                greeting.exec_async(&mut connection).await?;
            }
            Ok(connection)
        };
        let made = timeout(PATIENCE, connecting).await;
        let connection = made.unwrap_or_else(|_| Err(silence())).map_err(|error| {
            let reason = error.to_string();
            *self.state() = State::Down { reason: reason.clone() };
            Unreachable(reason)
        })?;
        *self.state() = State::Up { number, connection };
        self.made.send_replace(number);
        Ok(())
    }

    /// Called by the connection itself with whatever was not asked for, so nothing can pile up in between.
    fn ear(self: &Arc<Self>, number: u64) -> impl Fn(PushInfo) -> Result<(), ()> + use<> {
        let (link, listener) = (Arc::downgrade(self), self.listener.clone());
        move |push: PushInfo| {
            match (push.kind, &listener) {
                (PushKind::Disconnection, _) => {
                    if let Some(link) = Weak::upgrade(&link) {
                        link.fail(number, "it closed the connection");
                    }
                }
                (PushKind::Message, Some(hear)) => hear(push.data),
                _ => {}
            }
            Ok(())
        }
    }

    fn connection(&self) -> Result<(u64, MultiplexedConnection), Unreachable> {
        match &*self.state() {
            State::Up { number, connection } => Ok((*number, connection.clone())),
            State::Down { reason } => Err(Unreachable(reason.clone())),
        }
    }

    fn judge<T>(
        &self,
        number: u64,
        answer: Result<RedisResult<T>, tokio::time::error::Elapsed>,
    ) -> Result<T, Unreachable> {
        answer.unwrap_or_else(|_| Err(silence())).map_err(|error| {
            let reason = error.to_string();
            // A refusal is an answer. A connection that was late once is not waited for again.
            if error.code().is_none() {
                self.fail(number, &reason);
            }
            Unreachable(reason)
        })
    }

    fn fail(&self, number: u64, reason: &str) {
        let mut state = self.state();
        // A newer connection has nothing to do with what became of this one.
        if matches!(&*state, State::Up { number: current, .. } if *current == number) {
            tracing::warn!(link = self.name, reason, "Redis does not answer; going on without it");
            *state = State::Down { reason: reason.to_owned() };
            drop(state);
            self.lost.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn silence() -> RedisError {
    std::io::Error::new(std::io::ErrorKind::TimedOut, "it does not answer").into()
}
