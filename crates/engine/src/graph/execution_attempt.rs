//! One attempt at an execution: replays the journal, runs the scheduler, and ends the execution once.

use std::sync::Arc;

use ports::store::ExecutionAdvanced;
use ports::{BusSignal, Fenced};
use protocol::Job;
use protocol::execution::{Execution, ExecutionClaim, ExecutionError, ExecutionStatus};
use protocol::limits::CRASHED_ATTEMPTS;
use tokio::time::Instant;
use tracing::Instrument;

use super::execution_permit::ExecutionPermit;
use super::halt::ExecutionHalt;
use super::scheduler::{ExecutionScheduler, SchedulerOutcome};
use super::{node_copilot, recovery, stop_execution};
use crate::EngineInner;
use crate::tasks::TaskKind;
use crate::turn::lease;
use crate::turn::registry::{StopCause, StopSignal};

/// A claimed execution.
pub(crate) struct ClaimedExecution {
    pub(crate) claim: ExecutionClaim,
    pub(crate) execution: Execution,
    /// When the claim was requested: the lease counts from then.
    pub(crate) requested_at: Instant,
}

/// Runs the execution in its own task.
pub(crate) fn start(inner: &Arc<EngineInner>, claimed: ClaimedExecution, permit: ExecutionPermit) {
    inner.tasks.spawn(TaskKind::AttemptGuard, run(inner.clone(), claimed, permit));
}

/// Returns when the execution has ended, waits for a review, was handed back, or was taken over by another worker.
async fn run(inner: Arc<EngineInner>, claimed: ClaimedExecution, permit: ExecutionPermit) {
    let ClaimedExecution { claim, execution, requested_at } = claimed;
    let leased_until = requested_at + lease::usable_for(inner.options.lease);
    let running = inner.registry.register((&execution.id).into(), leased_until);
    let span = tracing::info_span!("execution", execution.id = %execution.id, graph.id = %execution.graph_id, fence = claim.fence);
    let attempt = ExecutionAttempt {
        inner: inner.clone(),
        claim: claim.clone(),
        execution: Arc::new(execution),
        stop: running.stop.clone(),
    };
    let execution = attempt.execution.clone();
    let outcome =
        inner.tasks.spawn(TaskKind::Execution, attempt.run_leased(permit).instrument(span)).await;
    if outcome.is_err() {
        tracing::error!(execution.id = %execution.id, "an execution panicked");
        let attempt =
            ExecutionAttempt { inner: inner.clone(), claim, execution, stop: running.stop.clone() };
        attempt.fail_after_panic().await;
    }
    drop(running);
}

struct ExecutionAttempt {
    inner: Arc<EngineInner>,
    claim: ExecutionClaim,
    execution: Arc<Execution>,
    stop: Arc<StopSignal>,
}

impl ExecutionAttempt {
    /// Runs the attempt while renewing its lease.
    async fn run_leased(self, permit: ExecutionPermit) {
        let executions = &self.inner.ports.executions;
        let renew = || executions.renew(&self.claim, self.inner.options.lease);
        tokio::select! {
            biased;
            never = lease::keep_renewed(&self.inner, &self.stop, renew) => match never {},
            () = self.run_to_end(permit) => {}
        }
    }

    async fn run_to_end(&self, permit: ExecutionPermit) {
        let began =
            match recovery::recover(&self.inner, &self.execution, &self.claim, &self.stop).await {
                Ok(began) => began,
                Err(halt) => return self.end_before_start(halt).await,
            };
        let (inner, execution, stop) =
            (self.inner.clone(), self.execution.clone(), self.stop.clone());
        let mut scheduler = ExecutionScheduler::new(inner, execution, stop, permit, began);
        let time_limit = self.inner.options.execution_time;
        let left = time_limit.saturating_sub(std::time::Duration::from_secs_f64(
            self.execution.stats.duration.clamp(0.0, time_limit.as_secs_f64()),
        ));
        let ended = tokio::select! {
            biased;
            ended = self.schedule(&mut scheduler) => ended,
            () = tokio::time::sleep(left) => Err(ExecutionHalt::fail(
                "max_time_exhausted",
                format!("The execution ran for longer than {} s.", time_limit.as_secs()),
            )),
        };
        let ended = match ended {
            Ok(AttemptEnd::Completed) => {
                self.finish(&mut scheduler, ExecutionStatus::Completed, None).await
            }
            Ok(AttemptEnd::InReview) => {
                self.inner.ports.bus.publish(BusSignal::Moved(self.execution.id.clone()));
                Ok(())
            }
            Err(ExecutionHalt::Fail(error)) => {
                self.abort(&mut scheduler, ExecutionStatus::Failed, Some(error)).await
            }
            Err(ExecutionHalt::Stop(StopCause::Cancelled | StopCause::OutOfTime)) => {
                self.abort(&mut scheduler, ExecutionStatus::Terminated, None).await
            }
            Err(ExecutionHalt::Stop(StopCause::LeaseLost)) => Ok(()),
            Err(ExecutionHalt::Stop(StopCause::Shutdown)) => {
                scheduler.drop_work();
                let saved = scheduler.save().await;
                if saved.is_ok() {
                    self.hand_back().await;
                }
                saved
            }
        };
        if let Err(halt) = ended {
            // The lease will expire, and the worker that takes over will end the execution.
            tracing::warn!(?halt, "could not end an execution");
        }
    }

    /// Runs the scheduler until it is done or waits for a review, and continues with decisions that arrived meanwhile.
    async fn schedule(
        &self,
        scheduler: &mut ExecutionScheduler,
    ) -> Result<AttemptEnd, ExecutionHalt> {
        if self.execution.stop_requested {
            return Err(ExecutionHalt::Stop(StopCause::Cancelled));
        }
        if self.execution.attempt > CRASHED_ATTEMPTS {
            return Err(ExecutionHalt::fail(
                "crash_loop",
                format!("The server stopped {CRASHED_ATTEMPTS} times while running this."),
            ));
        }
        recovery::resume_open(scheduler).await?;
        loop {
            match scheduler.run().await? {
                SchedulerOutcome::Done => return Ok(AttemptEnd::Completed),
                SchedulerOutcome::InReview => {}
            }
            // A decision may have arrived while other nodes were still running.
            if recovery::apply_decisions(scheduler).await? {
                continue;
            }
            self.stop.begin_release();
            match scheduler.wait_for_review().await? {
                ExecutionAdvanced::Done => return Ok(AttemptEnd::InReview),
                ExecutionAdvanced::Decided => self.stop.keep_claim(),
            }
        }
    }

    /// Ends the execution early and stops everything it started.
    async fn abort(
        &self,
        scheduler: &mut ExecutionScheduler,
        status: ExecutionStatus,
        error: Option<ExecutionError>,
    ) -> Result<(), ExecutionHalt> {
        scheduler.drop_work();
        if scheduler.may_have_children() {
            stop_execution::stop_children(&self.inner, &self.execution).await;
        }
        for run in scheduler.copilot_runs() {
            node_copilot::cancel_session(&self.inner, &self.execution, run).await;
        }
        scheduler.terminate();
        self.finish(scheduler, status, error).await
    }

    async fn finish(
        &self,
        scheduler: &mut ExecutionScheduler,
        status: ExecutionStatus,
        error: Option<ExecutionError>,
    ) -> Result<(), ExecutionHalt> {
        self.stop.begin_release();
        scheduler.finish(status, error).await?;
        metrics::counter!("pilothouse_executions_ended_total", "status" => status.as_str())
            .increment(1);
        tracing::info!(
            status = status.as_str(),
            nodes = scheduler.stats.node_count,
            "execution ended"
        );
        self.publish_end();
        Ok(())
    }

    /// Ends an execution that could not start: its graph is missing, or its journal cannot be read.
    async fn end_before_start(&self, halt: ExecutionHalt) {
        match halt {
            ExecutionHalt::Fail(error) => self.fail(error).await,
            ExecutionHalt::Stop(StopCause::Shutdown) => self.hand_back().await,
            ExecutionHalt::Stop(_) => {}
        }
    }

    async fn fail_after_panic(&self) {
        self.fail(ExecutionError {
            code: "internal_error".to_owned(),
            message: "The server failed while running this.".to_owned(),
        })
        .await;
    }

    /// Ends the execution without reading its journal.
    async fn fail(&self, error: ExecutionError) {
        self.stop.begin_release();
        let ended =
            recovery::fail_without_journal(&self.inner, &self.claim, &self.execution, error).await;
        match ended {
            Ok(Fenced::Done(_)) => self.publish_end(),
            Ok(Fenced::Stale) => {}
            Err(error) => tracing::warn!(%error, "could not end an execution"),
        }
    }

    fn publish_end(&self) {
        let bus = &self.inner.ports.bus;
        bus.publish(BusSignal::Ended(Job::from(&self.execution.id)));
        bus.publish(BusSignal::Moved(self.execution.id.clone()));
    }

    async fn hand_back(&self) {
        match self.inner.ports.executions.hand_back(&self.claim).await {
            Ok(Fenced::Done(())) => tracing::info!("execution handed back"),
            Ok(Fenced::Stale) => {}
            Err(error) => {
                tracing::warn!(%error, "could not hand an execution back; its lease will expire")
            }
        }
    }
}

enum AttemptEnd {
    Completed,
    InReview,
}
