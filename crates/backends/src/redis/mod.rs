//! The Redis side of the distributed backend. It carries what the store has committed to the other processes, and is
//! never the truth about anything: without it everything still happens, a second later.

mod backlog;
mod checker;
mod completions;
mod feed;
mod hints;
mod keys;
mod link;
mod log;
mod merge;
mod news;
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

use self::backlog::Backlog;
use self::checker::Checker;
pub(crate) use self::completions::{RECLAIM, RedisCompletions};
use self::feed::RedisFeed;
pub(crate) use self::hints::Hints;
use self::link::Link;
pub(crate) use self::log::RedisLog;
use self::publisher::{Mood, Publisher};
use self::refill::Refills;
use self::script::Publish;
use self::server::{PATIENCE, Server};
use self::streams::Streams;
use self::subscriber::Subscriber;
use crate::connect::ConnectError;
use crate::feed::{Feed, LogEnds};
use crate::live::Watched;

pub(crate) struct RedisOptions {
    pub(crate) url: String,
    /// How long the stream of a finished turn stays.
    pub(crate) stream_ttl: Duration,
    /// A completion that was not settled for so long comes back.
    pub(crate) reclaim: Duration,
    /// No hints: followers look on their own timers only.
    pub(crate) deaf: bool,
}

/// Four connections: one tells, one asks, one listens and one waits for completions, so that none waits for the bytes of
/// another.
pub(crate) struct Redis {
    telling: Arc<Link>,
    asking: Arc<Link>,
    listening: Arc<Link>,
    completions: Arc<RedisCompletions>,
    script: Arc<Publish>,
    watched: Arc<Watched>,
    backlog: Arc<Backlog>,
    signals: broadcast::Sender<BusSignal>,
    origin: String,
    deaf: bool,
    work: Tasks,
    /// Ended after the work, which needs them to the last.
    links: Tasks,
}

/// Tasks that are ended together.
#[derive(Default)]
struct Tasks {
    tracker: TaskTracker,
    end: CancellationToken,
}

impl Tasks {
    async fn close(&self) {
        self.end.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

impl Redis {
    /// A server that is not there now is an error; one that goes away later is done without until it is back. What
    /// ends and moves on in other processes is said on `signals`.
    pub(crate) async fn connect(
        options: &RedisOptions,
        signals: broadcast::Sender<BusSignal>,
    ) -> Result<Self, ConnectError> {
        let server = Server::new(&options.url)?;
        let script = Arc::new(Publish::new(options.stream_ttl));
        let watched = Arc::new(Watched::default());
        let origin = uuid::Uuid::now_v7().to_string();
        let listener = subscriber::listener(watched.clone(), signals.clone(), origin.clone());
        let (telling, asking, listening, completing) = tokio::try_join!(
            Link::open("telling", server.clone(), Some(script.load()), None),
            Link::open("asking", server.clone(), None, None),
            Link::open("listening", server.clone(), None, Some(listener)),
            Link::open("completing", server.clone(), None, None),
        )
        .map_err(|error| server.refused(error))?;
        let links = Tasks::default();
        for link in [&telling, &asking, &listening] {
            links.tracker.spawn(link.clone().keep(links.end.clone()));
        }
        let backlog = Arc::new(Backlog::default());
        let work = Tasks::default();
        // It hangs up with the work, so that the server hands it nothing more.
        work.tracker.spawn(completing.clone().keep(work.end.clone()));
        let (asks, end) = (asking.clone(), work.end.clone());
        let completions = Arc::new(RedisCompletions::new(completing, asks, options.reclaim, end));
        let deaf = options.deaf;
        Ok(Self {
            telling,
            asking,
            listening,
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

    /// To be told by the store of every commit that changed a log.
    pub(crate) fn feed(&self) -> Arc<dyn Feed> {
        Arc::new(RedisFeed { watched: self.watched.clone(), backlog: self.backlog.clone() })
    }

    pub(crate) fn hints(&self) -> Hints {
        let (backlog, signals) = (self.backlog.clone(), self.signals.clone());
        Hints { backlog, signals, deaf: self.deaf }
    }

    pub(crate) fn completions(&self) -> Arc<RedisCompletions> {
        self.completions.clone()
    }

    /// Begins to carry the news of `store`, which tells them to `feed`. To be called once.
    pub(crate) fn log(&self, store: Arc<dyn StreamLog>, ends: Arc<dyn LogEnds>) -> RedisLog {
        let refills = Refills::new(
            store.clone(),
            self.telling.clone(),
            self.script.clone(),
            self.work.tracker.clone(),
            self.work.end.clone(),
        );
        let publisher = Publisher {
            backlog: self.backlog.clone(),
            link: self.telling.clone(),
            script: self.script.clone(),
            refills: Arc::new(refills),
            origin: self.origin.clone(),
            mood: Mood::default(),
        };
        self.work.tracker.spawn(publisher.run(self.work.end.clone()));
        let watched = self.watched.clone();
        if !self.deaf {
            let checker = Arc::new(Checker::new(watched.clone(), ends));
            self.work.tracker.spawn(checker.clone().run(self.work.end.clone()));
            let (watched, link) = (watched.clone(), self.listening.clone());
            self.work
                .tracker
                .spawn(Subscriber { watched, link, checker }.run(self.work.end.clone()));
        }
        RedisLog { store, watched, streams: Streams::new(self.asking.clone()), deaf: self.deaf }
    }

    pub(crate) async fn failing(&self) -> Option<FailedDependency> {
        let mut ping = Pipeline::new();
        ping.cmd("PING");
        let reason = self.asking.ask(&ping, PATIENCE).await.err()?.to_string();
        Some(FailedDependency { name: "redis", reason })
    }

    /// Sends what still waits, for a moment, and ends everything.
    pub(crate) async fn close(&self) {
        self.work.close().await;
        self.completions.leave().await;
        self.links.close().await;
    }
}

#[cfg(test)]
pub(crate) mod tests;
