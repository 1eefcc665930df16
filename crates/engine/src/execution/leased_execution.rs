//! An execution under a lease of this process: replays the journal, runs the scheduler, and ends the execution once.

use std::sync::Arc;
use std::time::Duration;

use ports::leases::GrantedExecution;
use ports::store::ExecutionAdvanced;
use ports::{BusSignal, Fenced};
use protocol::execution::{Execution, ExecutionClaim, ExecutionError, ExecutionStatus};
use protocol::{Job, JobClaim};
use tracing::Span;

use super::scheduler::{ExecutionScheduler, SchedulerOutcome};
use super::{node_copilot, recovery, stop_execution};
use crate::EngineInner;
use crate::job::claim;
use crate::job::execution_permit::ExecutionPermit;
use crate::job::halt::ExecutionHalt;
use crate::job::lease;
use crate::job::runner::LeasedJob;
use crate::job::stop::{StopCause, StopSignal};

/// What is fixed for the whole claim.
pub(crate) struct LeasedExecution {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) claim: ExecutionClaim,
    pub(crate) execution: Arc<Execution>,
    pub(crate) stop: Arc<StopSignal>,
}

impl LeasedJob for LeasedExecution {
    type Failure = ExecutionError;
    type Granted = GrantedExecution;
    type Permit = ExecutionPermit;

    fn new(inner: Arc<EngineInner>, granted: GrantedExecution, stop: Arc<StopSignal>) -> Self {
        let GrantedExecution { claim, execution } = granted;
        Self { inner, claim, execution: Arc::new(execution), stop }
    }

    fn claim(&self) -> JobClaim {
        (&self.claim).into()
    }

    fn span(&self) -> Span {
        let Self { claim, execution, .. } = self;
        tracing::info_span!("execution", execution.id = %execution.id, graph.id = %execution.graph_id, fence = claim.fence)
    }

    /// Replays the journal, runs the scheduler within the time limit, and ends the execution or hands it back.
    async fn run(self: Arc<Self>, permit: ExecutionPermit) {
        let recovered = match recovery::recover(&self).await {
            Ok(recovered) => recovered,
            Err(halt) => return self.end_before_start(halt).await,
        };
        let mut scheduler = ExecutionScheduler::new(self.clone(), permit, recovered);
        let time_limit = self.inner.options.execution_time;
        let left = time_limit.saturating_sub(Duration::from_secs_f64(
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
            Ok(()) => self.finish(&mut scheduler, ExecutionStatus::Completed, None).await,
            // It waits for a review.
            Err(ExecutionHalt::Released) => {
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

    async fn fail_after_panic(self: Arc<Self>, error: ExecutionError) {
        self.fail(error).await;
    }
}

impl LeasedExecution {
    /// Runs the scheduler until nothing is left to do, and continues with decisions that arrived meanwhile. `Released`
    /// when the execution waits for a review.
    async fn schedule(&self, scheduler: &mut ExecutionScheduler) -> Result<(), ExecutionHalt> {
        claim::check_runnable::<ExecutionError>(
            self.execution.stop_requested,
            self.execution.attempt,
        )?;
        recovery::resume_open(scheduler).await?;
        loop {
            match scheduler.run().await? {
                SchedulerOutcome::Done => return Ok(()),
                SchedulerOutcome::InReview => {}
            }
            // A decision may have arrived while other nodes were still running.
            if recovery::apply_decisions(scheduler).await? {
                continue;
            }
            self.stop.begin_release();
            match scheduler.wait_for_review().await? {
                ExecutionAdvanced::Done => return Err(ExecutionHalt::Released),
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
            ExecutionHalt::Stop(_) | ExecutionHalt::Released => {}
        }
    }

    /// Ends the execution without reading its journal.
    async fn fail(&self, error: ExecutionError) {
        self.stop.begin_release();
        match recovery::fail_without_journal(self, error).await {
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
        lease::hand_back(&self.inner, &self.claim()).await;
    }
}
