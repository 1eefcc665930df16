//! The turns and executions that run in this process, and their stop signals. A cache: a missed stop is found in the
//! store by the next lease renewal.

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
use crate::EngineInner;

const LOCK: &str = "no code panics while it holds this lock";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// The user canceled it.
    Cancelled,
    /// Another worker has the job, or may have it: write nothing more.
    LeaseLost,
    /// The process shuts down: hand the job back.
    Shutdown,
    /// The turn reached its time limit.
    OutOfTime,
}

/// Combines cancel, lost lease, shutdown and time limit. The first cause counts.
#[derive(Debug)]
pub(crate) struct StopSignal {
    token: CancellationToken,
    reason: OnceLock<StopCause>,
    /// Until when the lease is certainly valid, even if this process sleeps.
    leased_until: Mutex<Instant>,
    lost: AtomicBool,
    releasing: AtomicBool,
}

impl StopSignal {
    fn new(leased_until: Instant) -> Self {
        Self {
            token: CancellationToken::new(),
            reason: OnceLock::new(),
            leased_until: Mutex::new(leased_until),
            lost: AtomicBool::new(false),
            releasing: AtomicBool::new(false),
        }
    }

    /// The lease was renewed by a request sent at `requested_at`.
    pub(crate) fn lease_renewed(&self, requested_at: Instant, lease: Duration) {
        *self.leased_until.lock().expect(LOCK) = requested_at + lease::usable_for(lease);
    }

    pub(crate) fn leased_until(&self) -> Instant {
        *self.leased_until.lock().expect(LOCK)
    }

    /// Another worker has the job, or may have it. Whatever the first stop cause was, nothing may be written.
    pub(crate) fn mark_lost(&self) {
        self.lost.store(true, Ordering::Release);
        self.stop(StopCause::LeaseLost);
    }

    /// The claim is about to be released, by an end or on purpose: from now on a renewal may find it gone.
    pub(crate) fn begin_release(&self) {
        self.releasing.store(true, Ordering::Release);
    }

    /// The claim was not released: the turn continues.
    pub(crate) fn keep_claim(&self) {
        self.releasing.store(false, Ordering::Release);
    }

    pub(crate) fn is_releasing(&self) -> bool {
        self.releasing.load(Ordering::Acquire)
    }

    pub(crate) fn is_lost(&self) -> bool {
        if Instant::now() >= self.leased_until() {
            self.mark_lost();
        }
        self.lost.load(Ordering::Acquire)
    }

    pub(crate) fn stop(&self, reason: StopCause) {
        let _ = self.reason.set(reason);
        self.token.cancel();
    }

    pub(crate) async fn stopped(&self) -> StopCause {
        self.token.cancelled().await;
        self.reason.get().copied().unwrap_or(StopCause::LeaseLost)
    }

    pub(crate) fn cause(&self) -> Option<StopCause> {
        if self.is_lost() {
            return Some(StopCause::LeaseLost);
        }
        self.reason.get().copied()
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }
}

pub(crate) struct JobRegistry {
    running: Arc<Mutex<BTreeMap<Job, Arc<StopSignal>>>>,
    count: watch::Sender<usize>,
}

impl Default for JobRegistry {
    fn default() -> Self {
        Self { running: Arc::default(), count: watch::Sender::new(0) }
    }
}

/// A registered job; dropping it removes the job from the registry.
pub(crate) struct RegisteredJob {
    job: Job,
    pub(crate) stop: Arc<StopSignal>,
    running: Arc<Mutex<BTreeMap<Job, Arc<StopSignal>>>>,
    count: watch::Sender<usize>,
}

impl JobRegistry {
    pub(crate) fn register(&self, job: Job, leased_until: Instant) -> RegisteredJob {
        let stop = Arc::new(StopSignal::new(leased_until));
        let before = lock(&self.running).insert(job.clone(), stop.clone());
        if let Some(before) = before {
            // Claimed again while an older attempt of this process is still stopping: its fence is stale.
            before.mark_lost();
        }
        self.publish_count();
        RegisteredJob { job, stop, running: self.running.clone(), count: self.count.clone() }
    }

    pub(crate) fn stop(&self, job: &Job, reason: StopCause) {
        if let Some(stop) = lock(&self.running).get(job) {
            stop.stop(reason);
        }
    }

    pub(crate) fn stop_all(&self, reason: StopCause) {
        for stop in lock(&self.running).values() {
            stop.stop(reason);
        }
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.running).len()
    }

    pub(crate) async fn wait_empty(&self) {
        let mut count = self.count.subscribe();
        let _ = count.wait_for(|count| *count == 0).await;
    }

    fn publish_count(&self) {
        publish_count(&self.running, &self.count);
    }
}

impl Drop for RegisteredJob {
    fn drop(&mut self) {
        let mut running = lock(&self.running);
        // A newer attempt may have replaced this one.
        if running.get(&self.job).is_some_and(|stop| Arc::ptr_eq(stop, &self.stop)) {
            running.remove(&self.job);
        }
        drop(running);
        publish_count(&self.running, &self.count);
    }
}

type JobMap = Mutex<BTreeMap<Job, Arc<StopSignal>>>;

fn publish_count(running: &JobMap, count: &watch::Sender<usize>) {
    let len = lock(running).len();
    metrics::gauge!("copilot_executor_active_tasks").set(len as f64);
    count.send_replace(len);
}

fn lock(running: &JobMap) -> std::sync::MutexGuard<'_, BTreeMap<Job, Arc<StopSignal>>> {
    running.lock().expect("no code panics while it holds this lock")
}

/// Turns cancel hints from the bus into stops. A lost hint delays the cancel until the next renewal.
pub(crate) async fn listen_for_cancels(inner: Arc<EngineInner>) {
    let mut signals = inner.ports.bus.subscribe();
    loop {
        let signal = tokio::select! {
            biased;
            () = inner.shutdown_signal.stopping() => return,
            signal = signals.recv() => signal,
        };
        match signal {
            Ok(BusSignal::Cancel(job)) => inner.registry.stop(&job, StopCause::Cancelled),
            Ok(BusSignal::Ended(_) | BusSignal::Moved(_)) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}
