//! The state from which an attempt starts: the graph, the replayed journal, and the node runs that earlier attempts
//! left open.

use std::sync::Arc;

use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use ports::{Fenced, PortError, PortResult};
use protocol::execution::{
    Execution, ExecutionError, ExecutionStats, ExecutionStatus, NodeEvent, node_execution_id,
};
use protocol::graph::Graph;
use protocol::tool::ToolEffect;

use super::journal::ExecutionJournal;
use super::leased_execution::LeasedExecution;
use super::plan::ExecutionPlan;
use super::rehearsal::NodeAnswers;
use super::scheduler::{ExecutionScheduler, RecoveredState, journal_mismatch};
use crate::EngineInner;
use crate::job::halt::ExecutionHalt;
use crate::job::retry::retry_while_leased;

/// How many bytes of a journal are read at once.
pub(crate) const READ_BYTES: usize = 4 * 1024 * 1024;

/// Reads the graph and replays the journal.
pub(crate) async fn recover(
    leased: &Arc<LeasedExecution>,
) -> Result<RecoveredState, ExecutionHalt> {
    let LeasedExecution { inner, execution, stop, .. } = &**leased;
    let found = retry_while_leased(stop, || execution_graph(inner, execution)).await?;
    let Some(graph) = found else {
        return Err(ExecutionHalt::fail(
            "graph_gone",
            "The agent of this execution no longer exists.",
        ));
    };
    let mut plan = ExecutionPlan::new(&graph, &inner.catalog).map_err(|error| {
        ExecutionHalt::fail("invalid_graph", format!("The agent cannot run: {error}."))
    })?;
    plan.seed(&execution.request.inputs);
    let mut stats =
        ExecutionStats { is_dry_run: execution.request.dry_run, ..ExecutionStats::default() };
    let (mut at, mut bytes) = (0, 0);
    while at < execution.events {
        let executions = &inner.ports.executions;
        let batches = retry_while_leased(stop, || {
            executions.journal(&execution.user_id, &execution.id, at, READ_BYTES)
        })
        .await?;
        if batches.is_empty() {
            break;
        }
        for batch in batches {
            bytes += batch.events.len() as u64;
            for event in parse(&batch.events)? {
                count(&mut stats, &event);
                plan.apply(&event).map_err(journal_mismatch)?;
            }
            at = batch.first + batch.count;
        }
    }
    let answers = retry_while_leased(stop, || NodeAnswers::load(inner, execution, &graph)).await?;
    let journal = ExecutionJournal::new(leased.clone());
    Ok(RecoveredState { plan, journal, stats, bytes, answers })
}

/// The graph that an execution runs: a stored version, or the one that a rehearsal brought. `None` if it was deleted.
pub(crate) async fn execution_graph(
    inner: &EngineInner,
    execution: &Execution,
) -> PortResult<Option<Graph>> {
    let own = execution.request.rehearsal.as_ref().and_then(|rehearsal| rehearsal.graph.clone());
    if own.is_some() {
        return Ok(own);
    }
    let (user, version) = (&execution.user_id, Some(execution.graph_version));
    let found = inner.ports.graphs.get(user, &execution.graph_id, version).await?;
    Ok(found.map(|stored| stored.graph))
}

pub(crate) fn parse(events: &[u8]) -> Result<Vec<NodeEvent>, ExecutionHalt> {
    serde_json::from_slice(events).map_err(|error| {
        tracing::error!(%error, "could not parse a journal");
        ExecutionHalt::fail(
            "broken_journal",
            "The stored journal of this execution cannot be read.",
        )
    })
}

fn count(stats: &mut ExecutionStats, event: &NodeEvent) {
    stats.cost += event.cost;
    if event.status.is_some_and(ExecutionStatus::is_final) {
        stats.node_count += 1;
        stats.node_error_count += u64::from(event.error.is_some());
    }
}

/// Resumes the node runs of an earlier attempt: repeats the ones that may be repeated and fails the others.
pub(crate) async fn resume_open(scheduler: &mut ExecutionScheduler) -> Result<(), ExecutionHalt> {
    let open: Vec<_> = scheduler
        .plan
        .open()
        .filter(|(_, open)| !open.in_review)
        .map(|(run, open)| (run, open.node, open.emitted))
        .collect();
    for (run, at, emitted) in open {
        match scheduler.plan.node(at).block.spec().effect {
            ToolEffect::None | ToolEffect::Idempotent => scheduler.relaunch(run, at, emitted),
            ToolEffect::Once => scheduler.interrupt(run, at)?,
        }
    }
    apply_decisions(scheduler).await?;
    Ok(())
}

/// Applies the decisions of reviewers. Returns `true` if a node run continues because of them.
pub(crate) async fn apply_decisions(
    scheduler: &mut ExecutionScheduler,
) -> Result<bool, ExecutionHalt> {
    let asked: Vec<_> = scheduler
        .plan
        .open()
        .filter(|(_, open)| open.in_review)
        .map(|(run, open)| (run, open.node))
        .collect();
    if asked.is_empty() {
        return Ok(false);
    }
    let leased = scheduler.leased.clone();
    let LeasedExecution { inner, execution, stop, .. } = &*leased;
    let reviews = &inner.ports.reviews;
    let found =
        retry_while_leased(stop, || reviews.of_execution(&execution.user_id, &execution.id))
            .await?;
    let mut any = false;
    for (run, at) in asked {
        let id = node_execution_id(&execution.id, run);
        let decision = found.iter().find(|review| review.id == id).and_then(|it| it.decision());
        if let Some(decision) = decision {
            scheduler.resume_decided(run, at, decision)?;
            any = true;
        }
    }
    Ok(any)
}

/// Ends an execution whose journal cannot be read.
pub(crate) async fn fail_without_journal(
    leased: &LeasedExecution,
    error: ExecutionError,
) -> PortResult<Fenced<ExecutionAdvanced>> {
    let LeasedExecution { inner, claim, execution, .. } = leased;
    let executions = &inner.ports.executions;
    let Some(now) = executions.get(&execution.user_id, &execution.id).await? else {
        return Err(PortError::Broken("the execution no longer exists".into()));
    };
    let advance = ExecutionAdvance {
        after: now.events,
        events: bytes::Bytes::new(),
        count: 0,
        charges: Vec::new(),
        reviews: Vec::new(),
        stats: now.stats,
        then: AfterAdvance::End { status: ExecutionStatus::Failed, error: Some(error) },
    };
    executions.advance(claim, advance).await
}
