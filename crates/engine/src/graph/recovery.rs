//! What an attempt starts from: the graph, the journal of those before it, and what they left open.

use std::sync::Arc;

use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced};
use ports::{Fenced, PortError, PortResult};
use protocol::execution::{
    Execution, ExecutionClaim, ExecutionError, ExecutionStats, ExecutionStatus, NodeEvent,
    node_run_id,
};
use protocol::tool::ToolEffect;

use super::flow::{Beginning, Flow, broken};
use super::halt::Halt;
use super::journal::Journal;
use super::plan::Plan;
use crate::Inner;
use crate::turn::insist::insist;
use crate::turn::registry::Stop;

/// How much of a journal is read at once.
pub(super) const READ_BYTES: usize = 4 * 1024 * 1024;

/// Reads the graph and replays the journal.
pub(super) async fn begin(
    inner: &Arc<Inner>,
    execution: &Arc<Execution>,
    claim: &ExecutionClaim,
    stop: &Arc<Stop>,
) -> Result<Beginning, Halt> {
    let (id, version) = (&execution.graph_id, execution.graph_version);
    let graphs = &inner.ports.graphs;
    let found = insist(stop, || graphs.get(&execution.user_id, id, Some(version))).await?;
    let Some(stored) = found else {
        return Err(Halt::fail("graph_gone", "The agent of this run is not there any more."));
    };
    let mut plan = Plan::new(&stored.graph, &inner.catalogue).map_err(|broken| {
        Halt::fail("invalid_graph", format!("The agent cannot run: {broken}."))
    })?;
    plan.begin(&execution.request.inputs);
    let mut stats =
        ExecutionStats { is_dry_run: execution.request.dry_run, ..ExecutionStats::default() };
    let (mut at, mut bytes) = (0, 0);
    while at < execution.events {
        let executions = &inner.ports.executions;
        let batches =
            insist(stop, || executions.journal(&execution.user_id, &execution.id, at, READ_BYTES))
                .await?;
        if batches.is_empty() {
            break;
        }
        for batch in batches {
            bytes += batch.events.len() as u64;
            for event in parse(&batch.events)? {
                count(&mut stats, &event);
                plan.apply(&event).map_err(broken)?;
            }
            at = batch.first + batch.count;
        }
    }
    let journal = Journal::new(inner.clone(), claim.clone(), stop.clone(), execution.events);
    Ok(Beginning { plan, journal, stats, bytes })
}

pub(super) fn parse(events: &[u8]) -> Result<Vec<NodeEvent>, Halt> {
    serde_json::from_slice(events).map_err(|error| {
        tracing::error!(%error, "a journal cannot be read");
        Halt::fail("broken_journal", "What is stored about this run cannot be read.")
    })
}

fn count(stats: &mut ExecutionStats, event: &NodeEvent) {
    stats.cost += event.cost;
    if event.status.is_some_and(ExecutionStatus::is_final) {
        stats.node_count += 1;
        stats.node_error_count += u64::from(event.error.is_some());
    }
}

/// Goes on with what an earlier attempt began: what may be repeated is, what may not be has failed.
pub(super) async fn resume_open(flow: &mut Flow) -> Result<(), Halt> {
    let open: Vec<_> = flow
        .plan
        .open()
        .filter(|(_, open)| !open.in_review)
        .map(|(run, open)| (run, open.node, open.emitted))
        .collect();
    for (run, at, emitted) in open {
        match flow.plan.node(at).block.spec().effect {
            ToolEffect::None | ToolEffect::Idempotent => flow.relaunch(run, at, emitted),
            ToolEffect::Once => flow.interrupt(run, at)?,
        }
    }
    take_decisions(flow).await?;
    Ok(())
}

/// Takes in what people have decided. `true` when something goes on because of it.
pub(super) async fn take_decisions(flow: &mut Flow) -> Result<bool, Halt> {
    let asked: Vec<_> = flow
        .plan
        .open()
        .filter(|(_, open)| open.in_review)
        .map(|(run, open)| (run, open.node))
        .collect();
    if asked.is_empty() {
        return Ok(false);
    }
    let (inner, execution, stop) = (flow.inner.clone(), flow.execution.clone(), flow.stop.clone());
    let reviews = &inner.ports.reviews;
    let found = insist(&stop, || reviews.of_execution(&execution.user_id, &execution.id)).await?;
    let mut any = false;
    for (run, at) in asked {
        let id = node_run_id(&execution.id, run);
        let decision = found.iter().find(|review| review.id == id).and_then(|it| it.decision());
        if let Some(decision) = decision {
            flow.resume_decided(run, at, decision)?;
            any = true;
        }
    }
    Ok(any)
}

/// Ends a run whose journal is not to be had.
pub(super) async fn end_as_it_is(
    inner: &Inner,
    claim: &ExecutionClaim,
    execution: &Execution,
    error: ExecutionError,
) -> PortResult<Fenced<ExecutionAdvanced>> {
    let executions = &inner.ports.executions;
    let Some(now) = executions.get(&execution.user_id, &execution.id).await? else {
        return Err(PortError::Broken("the run is gone".into()));
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
