//! One attempt at an execution: take the journal over, let the run flow, and end it once.

use std::sync::Arc;

use ports::store::ExecutionAdvanced;
use ports::{BusSignal, Fenced};
use protocol::Job;
use protocol::execution::{Execution, ExecutionClaim, ExecutionError, ExecutionStatus};
use protocol::limits::CRASHED_ATTEMPTS;
use tokio::time::Instant;
use tracing::Instrument;

use super::flow::{Flow, Settled};
use super::halt::Halt;
use super::slot::Slots;
use super::{copilot, recovery, stop};
use crate::Inner;
use crate::tasks::Kind;
use crate::turn::lease;
use crate::turn::registry::{Stop, StopReason};

/// An execution that was claimed.
pub(crate) struct Won {
    pub(crate) claim: ExecutionClaim,
    pub(crate) execution: Execution,
    /// When the claim was asked for: from then on its lease counts.
    pub(crate) asked: Instant,
}

/// Runs the execution beside the caller.
pub(crate) fn start(inner: &Arc<Inner>, won: Won, slots: Slots) {
    inner.tasks.spawn(Kind::Keeper, run(inner.clone(), won, slots));
}

/// Returns when the run has ended, rests, was handed back, or is no longer ours.
async fn run(inner: Arc<Inner>, won: Won, slots: Slots) {
    let Won { claim, execution, asked } = won;
    let ours_until = asked + lease::ours(inner.options.lease);
    let running = inner.registry.enter((&execution.id).into(), ours_until);
    let span = tracing::info_span!("execution", execution.id = %execution.id, graph.id = %execution.graph_id, fence = claim.fence);
    let attempt = Attempt {
        inner: inner.clone(),
        claim: claim.clone(),
        execution: Arc::new(execution),
        stop: running.stop.clone(),
    };
    let execution = attempt.execution.clone();
    let outcome = inner.tasks.spawn(Kind::Execution, attempt.keep(slots).instrument(span)).await;
    if outcome.is_err() {
        tracing::error!(execution.id = %execution.id, "an execution panicked");
        let attempt =
            Attempt { inner: inner.clone(), claim, execution, stop: running.stop.clone() };
        attempt.fail_blindly().await;
    }
    drop(running);
}

struct Attempt {
    inner: Arc<Inner>,
    claim: ExecutionClaim,
    execution: Arc<Execution>,
    stop: Arc<Stop>,
}

impl Attempt {
    /// Works with the lease kept beside.
    async fn keep(self, slots: Slots) {
        let executions = &self.inner.ports.executions;
        let renew = || executions.renew(&self.claim, self.inner.options.lease);
        tokio::select! {
            biased;
            never = lease::keep(&self.inner, &self.stop, renew) => match never {},
            () = self.work(slots) => {}
        }
    }

    async fn work(&self, slots: Slots) {
        let began =
            match recovery::begin(&self.inner, &self.execution, &self.claim, &self.stop).await {
                Ok(began) => began,
                Err(halt) => return self.end_unbegun(halt).await,
            };
        let (inner, execution, stop) =
            (self.inner.clone(), self.execution.clone(), self.stop.clone());
        let mut flow = Flow::new(inner, execution, stop, slots, began);
        let overtime = self.inner.options.execution_time;
        let left = overtime.saturating_sub(std::time::Duration::from_secs_f64(
            self.execution.stats.duration.clamp(0.0, overtime.as_secs_f64()),
        ));
        let ended = tokio::select! {
            biased;
            ended = self.flow(&mut flow) => ended,
            () = tokio::time::sleep(left) => Err(Halt::fail(
                "max_time_exhausted",
                format!("The run was worked on for longer than {} s.", overtime.as_secs()),
            )),
        };
        let ended = match ended {
            Ok(Ended::Completed) => self.finish(&mut flow, ExecutionStatus::Completed, None).await,
            Ok(Ended::Rests) => {
                self.inner.ports.bus.publish(BusSignal::Moved(self.execution.id.clone()));
                Ok(())
            }
            Err(Halt::Fail(error)) => {
                self.cut_short(&mut flow, ExecutionStatus::Failed, Some(error)).await
            }
            Err(Halt::Stop(StopReason::Cancelled | StopReason::OutOfTime)) => {
                self.cut_short(&mut flow, ExecutionStatus::Terminated, None).await
            }
            Err(Halt::Stop(StopReason::LeaseLost)) => Ok(()),
            Err(Halt::Stop(StopReason::Shutdown)) => {
                flow.drop_work();
                let saved = flow.save().await;
                if saved.is_ok() {
                    self.hand_back().await;
                }
                saved
            }
        };
        if let Err(halt) = ended {
            // Its lease runs out, and whoever takes the run over ends it.
            tracing::warn!(?halt, "a run could not be ended");
        }
    }

    /// Flows, asks the people, flows on with what they have decided.
    async fn flow(&self, flow: &mut Flow) -> Result<Ended, Halt> {
        if self.execution.stop_requested {
            return Err(Halt::Stop(StopReason::Cancelled));
        }
        if self.execution.attempt > CRASHED_ATTEMPTS {
            return Err(Halt::fail(
                "crash_loop",
                format!("The server stopped {CRASHED_ATTEMPTS} times while it worked on this."),
            ));
        }
        recovery::resume_open(flow).await?;
        loop {
            match flow.run().await? {
                Settled::Done => return Ok(Ended::Completed),
                Settled::InReview => {}
            }
            // A decision that came while others still worked.
            if recovery::take_decisions(flow).await? {
                continue;
            }
            self.stop.begin_end();
            match flow.rest().await? {
                ExecutionAdvanced::Done => return Ok(Ended::Rests),
                ExecutionAdvanced::Decided => self.stop.goes_on(),
            }
        }
    }

    /// Ends the run before it is done, with all that it has started.
    async fn cut_short(
        &self,
        flow: &mut Flow,
        status: ExecutionStatus,
        error: Option<ExecutionError>,
    ) -> Result<(), Halt> {
        flow.drop_work();
        if flow.may_have_children() {
            stop::children(&self.inner, &self.execution).await;
        }
        for run in flow.asked_the_copilot() {
            copilot::stop_asked(&self.inner, &self.execution, run).await;
        }
        flow.terminate();
        self.finish(flow, status, error).await
    }

    async fn finish(
        &self,
        flow: &mut Flow,
        status: ExecutionStatus,
        error: Option<ExecutionError>,
    ) -> Result<(), Halt> {
        self.stop.begin_end();
        flow.end(status, error).await?;
        metrics::counter!("pilothouse_executions_ended_total", "status" => status.as_str())
            .increment(1);
        tracing::info!(status = status.as_str(), nodes = flow.stats.node_count, "execution ended");
        self.say_ended();
        Ok(())
    }

    /// Before anything flowed: the graph is gone, or the journal cannot be read.
    async fn end_unbegun(&self, halt: Halt) {
        match halt {
            Halt::Fail(error) => self.fail(error).await,
            Halt::Stop(StopReason::Shutdown) => self.hand_back().await,
            Halt::Stop(_) => {}
        }
    }

    async fn fail_blindly(&self) {
        self.fail(ExecutionError {
            code: "internal_error".to_owned(),
            message: "The server failed while it worked on this.".to_owned(),
        })
        .await;
    }

    /// Ends the run without its journal.
    async fn fail(&self, error: ExecutionError) {
        self.stop.begin_end();
        let ended = recovery::end_as_it_is(&self.inner, &self.claim, &self.execution, error).await;
        match ended {
            Ok(Fenced::Done(_)) => self.say_ended(),
            Ok(Fenced::Stale) => {}
            Err(error) => tracing::warn!(%error, "a run could not be ended"),
        }
    }

    fn say_ended(&self) {
        let bus = &self.inner.ports.bus;
        bus.publish(BusSignal::Ended(Job::from(&self.execution.id)));
        bus.publish(BusSignal::Moved(self.execution.id.clone()));
    }

    async fn hand_back(&self) {
        match self.inner.ports.executions.hand_back(&self.claim).await {
            Ok(Fenced::Done(())) => tracing::info!("execution handed back"),
            Ok(Fenced::Stale) => {}
            Err(error) => {
                tracing::warn!(%error, "an execution could not be handed back; its lease will run out")
            }
        }
    }
}

enum Ended {
    Completed,
    Rests,
}
