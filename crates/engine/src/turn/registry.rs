//! The turns and executions that run in this process and how to stop them. A cache: what it forgets is found in the
//! store by the next renewal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use ports::BusSignal;
use protocol::Job;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::lease;
use crate::Inner;

const LOCK: &str = "no code panics while it holds this lock";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// A person asked for it.
    Cancelled,
    /// Another worker has the turn, or may have: write nothing more.
    LeaseLost,
    /// The process ends: hand the turn back.
    Shutdown,
    /// The turn has taken as long as a turn may.
    OutOfTime,
}

/// Where user stop, lost lease, shutdown and the time limit meet. The first reason stands.
#[derive(Debug)]
pub(crate) struct Stop {
    token: CancellationToken,
    reason: OnceLock<StopReason>,
    /// Until when the turn is surely ours, however long this process may sleep meanwhile.
    ours_until: Mutex<Instant>,
    lost: AtomicBool,
    ending: AtomicBool,
}

impl Stop {
    fn new(ours_until: Instant) -> Self {
        Self {
            token: CancellationToken::new(),
            reason: OnceLock::new(),
            ours_until: Mutex::new(ours_until),
            lost: AtomicBool::new(false),
            ending: AtomicBool::new(false),
        }
    }

    /// A lease was renewed; it was asked for at `asked`.
    pub(crate) fn ours_for(&self, asked: Instant, lease: Duration) {
        *self.ours_until.lock().expect(LOCK) = asked + lease::ours(lease);
    }

    pub(crate) fn ours_until(&self) -> Instant {
        *self.ours_until.lock().expect(LOCK)
    }

    /// Another worker has the turn, or may have. Whatever else was the reason to stop, nothing may be written.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Release);
        self.stop(StopReason::LeaseLost);
    }

    /// The claim is being given up by an end or a rest: from now on a renewal that finds it gone has found that.
    pub(crate) fn begin_end(&self) {
        self.ending.store(true, Ordering::Release);
    }

    /// It was not given up: the turn goes on.
    pub(crate) fn goes_on(&self) {
        self.ending.store(false, Ordering::Release);
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    pub(crate) fn is_lost(&self) -> bool {
        if Instant::now() >= self.ours_until() {
            self.lose();
        }
        self.lost.load(Ordering::Acquire)
    }

    pub(crate) fn stop(&self, reason: StopReason) {
        let _ = self.reason.set(reason);
        self.token.cancel();
    }

    pub(crate) async fn stopped(&self) -> StopReason {
        self.token.cancelled().await;
        self.reason.get().copied().unwrap_or(StopReason::LeaseLost)
    }

    pub(crate) fn now(&self) -> Option<StopReason> {
        if self.is_lost() {
            return Some(StopReason::LeaseLost);
        }
        self.reason.get().copied()
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }
}

pub(crate) struct Registry {
    running: Arc<Mutex<BTreeMap<Job, Arc<Stop>>>>,
    count: watch::Sender<usize>,
}

impl Default for Registry {
    fn default() -> Self {
        Self { running: Arc::default(), count: watch::Sender::new(0) }
    }
}

/// A job's place in the registry; dropping it gives the place up.
pub(crate) struct Running {
    job: Job,
    pub(crate) stop: Arc<Stop>,
    running: Arc<Mutex<BTreeMap<Job, Arc<Stop>>>>,
    count: watch::Sender<usize>,
}

impl Registry {
    pub(crate) fn enter(&self, job: Job, ours_until: Instant) -> Running {
        let stop = Arc::new(Stop::new(ours_until));
        let before = lock(&self.running).insert(job.clone(), stop.clone());
        if let Some(before) = before {
            // Claimed again while an older attempt of this process still winds down: its fence is stale.
            before.lose();
        }
        self.publish();
        Running { job, stop, running: self.running.clone(), count: self.count.clone() }
    }

    pub(crate) fn stop(&self, job: &Job, reason: StopReason) {
        if let Some(stop) = lock(&self.running).get(job) {
            stop.stop(reason);
        }
    }

    pub(crate) fn stop_all(&self, reason: StopReason) {
        for stop in lock(&self.running).values() {
            stop.stop(reason);
        }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.running).len()
    }

    pub(crate) async fn empty(&self) {
        let mut count = self.count.subscribe();
        let _ = count.wait_for(|count| *count == 0).await;
    }

    fn publish(&self) {
        publish(&self.running, &self.count);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = lock(&self.running);
        // A newer attempt may have taken the place.
        if running.get(&self.job).is_some_and(|stop| Arc::ptr_eq(stop, &self.stop)) {
            running.remove(&self.job);
        }
        drop(running);
        publish(&self.running, &self.count);
    }
}

type Map = Mutex<BTreeMap<Job, Arc<Stop>>>;

fn publish(running: &Map, count: &watch::Sender<usize>) {
    let len = lock(running).len();
    metrics::gauge!("copilot_executor_active_tasks").set(len as f64);
    count.send_replace(len);
}

fn lock(running: &Map) -> std::sync::MutexGuard<'_, BTreeMap<Job, Arc<Stop>>> {
    running.lock().expect("no code panics while it holds this lock")
}

/// Turns cancel hints into stops. A hint that is lost costs one renewal.
pub(crate) async fn listen(inner: Arc<Inner>) {
    let mut signals = inner.ports.bus.subscribe();
    loop {
        let signal = tokio::select! {
            biased;
            () = inner.phase.stopping() => return,
            signal = signals.recv() => signal,
        };
        match signal {
            Ok(BusSignal::Cancel(job)) => inner.registry.stop(&job, StopReason::Cancelled),
            Ok(BusSignal::Ended(_) | BusSignal::Moved(_)) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}
