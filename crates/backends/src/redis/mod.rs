//! The Redis part of the distributed backend. It carries what the store has committed to other processes, and is never
//! the source of truth: without it everything still works, about a second later.

mod backlog;
mod checker;
mod completions;
mod connection;
mod feed;
mod hints;
mod keys;
mod log;
mod log_notice;
mod merge;
mod publisher;
mod refill;
mod script;
mod server;
mod streams;
mod subscriber;

use std::sync::Arc;
use std::time::Duration;

use ports::{BusSignal, FailedDependency, StreamLog};
use redis::Pipeline;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::backlog::PublishBacklog;
use self::checker::TailChecker;
pub(crate) use self::completions::{RECLAIM, RedisCompletions};
use self::connection::RedisConnection;
use self::feed::RedisFeed;
pub(crate) use self::hints::RedisHints;
pub(crate) use self::log::RedisLog;
use self::publisher::{PublishHealth, StreamPublisher};
use self::refill::StreamRefills;
use self::script::PublishScript;
use self::server::{REPLY_TIMEOUT, RedisServer};
use self::streams::StreamReader;
use self::subscriber::LogSubscriber;
use crate::connect::ConnectError;
use crate::live::WatchedLogs;
use crate::log_feed::{LogEnds, LogFeed};

pub(crate) struct RedisOptions {
    pub(crate) url: String,
    /// How long the stream of a finished turn is kept.
    pub(crate) stream_ttl: Duration,
    /// A completion that is unacknowledged for this long is delivered again.
    pub(crate) reclaim: Duration,
    /// No hints: followers poll on their own timers only.
    pub(crate) deaf: bool,
}

/// Redis access of this process. Four connections, one each for publishing, queries, subscriptions and completions, so
/// that none waits for the bytes of another.
pub(crate) struct RedisBackend {
    publishing: Arc<RedisConnection>,
    querying: Arc<RedisConnection>,
    subscribing: Arc<RedisConnection>,
    completions: Arc<RedisCompletions>,
    script: Arc<PublishScript>,
    watched: Arc<WatchedLogs>,
    backlog: Arc<PublishBacklog>,
    signals: broadcast::Sender<BusSignal>,
    origin: String,
    deaf: bool,
    work: TaskGroup,
    /// Closed after the work, which needs them until its end.
    links: TaskGroup,
}

/// Tasks that are ended together.
#[derive(Default)]
struct TaskGroup {
    tracker: TaskTracker,
    end: CancellationToken,
}

impl TaskGroup {
    async fn close(&self) {
        self.end.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

impl RedisBackend {
    /// Fails when the server is unreachable now; a server that is lost later is reconnected to in the background.
    /// Hints of other processes are sent to `signals`.
    pub(crate) async fn connect(
        options: &RedisOptions,
        signals: broadcast::Sender<BusSignal>,
    ) -> Result<Self, ConnectError> {
        let server = RedisServer::new(&options.url)?;
        let script = Arc::new(PublishScript::new(options.stream_ttl));
        let watched = Arc::new(WatchedLogs::default());
        let origin = uuid::Uuid::now_v7().to_string();
        let listener = subscriber::listener(watched.clone(), signals.clone(), origin.clone());
        let (publishing, querying, subscribing, completing) = tokio::try_join!(
            RedisConnection::open("publishing", server.clone(), Some(script.load()), None),
            RedisConnection::open("queries", server.clone(), None, None),
            RedisConnection::open("subscriptions", server.clone(), None, Some(listener)),
            RedisConnection::open("completions", server.clone(), None, None),
        )
        .map_err(|error| server.refused(error))?;
        let links = TaskGroup::default();
        for link in [&publishing, &querying, &subscribing] {
            links.tracker.spawn(link.clone().keep(links.end.clone()));
        }
        let backlog = Arc::new(PublishBacklog::default());
        let work = TaskGroup::default();
        // Closes with the work, so that the server delivers nothing more to it.
        work.tracker.spawn(completing.clone().keep(work.end.clone()));
        let (asks, end) = (querying.clone(), work.end.clone());
        let completions = Arc::new(RedisCompletions::new(completing, asks, options.reclaim, end));
        let deaf = options.deaf;
        Ok(Self {
            publishing,
            querying,
            subscribing,
            completions,
            script,
            watched,
            backlog,
            signals,
            origin,
            deaf,
            work,
            links,
        })
    }

    /// Notified by the store of every commit that changed a log.
    pub(crate) fn feed(&self) -> Arc<dyn LogFeed> {
        Arc::new(RedisFeed { watched: self.watched.clone(), backlog: self.backlog.clone() })
    }

    pub(crate) fn hints(&self) -> RedisHints {
        let (backlog, signals) = (self.backlog.clone(), self.signals.clone());
        RedisHints { backlog, signals, deaf: self.deaf }
    }

    pub(crate) fn completions(&self) -> Arc<RedisCompletions> {
        self.completions.clone()
    }

    /// Starts to carry the notifications of `store`, which passes them to `feed`. Call once.
    pub(crate) fn log(&self, store: Arc<dyn StreamLog>, ends: Arc<dyn LogEnds>) -> RedisLog {
        let refills = StreamRefills::new(
            store.clone(),
            self.publishing.clone(),
            self.script.clone(),
            self.work.tracker.clone(),
            self.work.end.clone(),
        );
        let publisher = StreamPublisher {
            backlog: self.backlog.clone(),
            link: self.publishing.clone(),
            script: self.script.clone(),
            refills: Arc::new(refills),
            origin: self.origin.clone(),
            health: PublishHealth::default(),
        };
        self.work.tracker.spawn(publisher.run(self.work.end.clone()));
        let watched = self.watched.clone();
        if !self.deaf {
            let checker = Arc::new(TailChecker::new(watched.clone(), ends));
            self.work.tracker.spawn(checker.clone().run(self.work.end.clone()));
            let (watched, link) = (watched.clone(), self.subscribing.clone());
            self.work
                .tracker
                .spawn(LogSubscriber { watched, link, checker }.run(self.work.end.clone()));
        }
        RedisLog {
            store,
            watched,
            streams: StreamReader::new(self.querying.clone()),
            deaf: self.deaf,
        }
    }

    pub(crate) async fn failing(&self) -> Option<FailedDependency> {
        let mut ping = Pipeline::new();
        ping.cmd("PING");
        let reason = self.querying.request(&ping, REPLY_TIMEOUT).await.err()?.to_string();
        Some(FailedDependency { name: "redis", reason })
    }

    /// Sends what still waits, within a time limit, and closes everything.
    pub(crate) async fn close(&self) {
        self.work.close().await;
        self.completions.leave().await;
        self.links.close().await;
    }
}

#[cfg(test)]
pub(crate) mod tests;
