//! The turns and executions that run in this process, and their stop signals. A cache: a missed stop is found in the
//! store by the next lease renewal.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use ports::BusSignal;
use protocol::Job;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::Instant;

use super::stop::{StopCause, StopSignal};
use crate::EngineInner;

type JobMap = Mutex<BTreeMap<Job, Arc<StopSignal>>>;

pub(crate) struct JobRegistry {
    running: Arc<JobMap>,
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
    running: Arc<JobMap>,
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
        publish_count(&self.running, &self.count);
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

fn publish_count(running: &JobMap, count: &watch::Sender<usize>) {
    let len = lock(running).len();
    metrics::gauge!("copilot_executor_active_tasks").set(len as f64);
    count.send_replace(len);
}

fn lock(running: &JobMap) -> MutexGuard<'_, BTreeMap<Job, Arc<StopSignal>>> {
    running.lock().expect("no code panics while it holds this lock")
}

impl EngineInner {
    /// Stops a job whose stop is stored: directly if it runs in this process, by a hint on the bus, which may be lost, if
    /// it runs in another.
    pub(crate) fn signal_stop(&self, job: impl Into<Job>) {
        let job = job.into();
        self.registry.stop(&job, StopCause::Cancelled);
        self.ports.bus.publish(BusSignal::Cancel(job));
    }
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
