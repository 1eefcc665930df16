//! What happens on the whole server right now, for who runs it: counts, ids, ages and names of tools, and not a word of
//! what anybody has said.

mod body;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use jiff::Timestamp;
use ports::store::{LiveExecution, LiveExecutions, LiveTurn};
use tokio::time::Instant;

use self::body::{
    OpenWork, OpsDependency, OpsExecution, OpsOverview, OpsProcess, OpsQueue, OpsStreams, OpsTurn,
    OpsWorker,
};
use super::App;
use super::metrics::{admit, within};
use super::problem::{Answer, ProblemBody};
use crate::config::{Role, Settings};

/// Turns and runs that are listed; there can be more, and the counts say so.
const LISTED: u32 = 100;

/// What this process knows of itself.
pub(crate) struct Process {
    started: Instant,
    /// Turns that it runs at the same time; none if it only serves clients.
    slots: Option<usize>,
    /// How long a claim holds after it was renewed.
    lease: Duration,
}

impl Process {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            started: Instant::now(),
            slots: settings.roles.has(Role::Executor).then_some(settings.workers),
            lease: settings.turn_lease.0,
        }
    }
}

/// What is going on on the server.
///
/// Open to all on a server without a login; on others it wants the internal key as `x-api-key`.
#[utoipa::path(
    get, path = "/ops/overview", operation_id = "ops_overview", tag = "service",
    responses((status = 200, description = "Done", body = OpsOverview), (status = 401, description = "The internal key is missing", body = ProblemBody)),
    security((), ("api_key" = []))
)]
pub(crate) async fn overview(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Answer<Json<OpsOverview>> {
    admit(&app, &headers)?;
    let ports = &app.ports;
    // What cannot be read is left out: the rest must be there while a server is down, when it is needed most.
    let (open, runs, turns, executions, depth, lag, failing) = tokio::join!(
        within(ports.turns.count_open()),
        within(ports.executions.count_open()),
        within(ports.reports.live_turns(LISTED)),
        within(ports.reports.live_executions(LISTED)),
        within(ports.queue.depth()),
        within(ports.outbox.lag()),
        ports.health.failing(),
    );
    let turns = turns.unwrap_or_default();
    let oldest_run = executions.as_ref().and_then(|live| live.oldest_queued);
    let executions = executions.map_or_else(Vec::new, |LiveExecutions { runs, .. }| runs);
    let oldest_turn = open.filter(|open| open.queued > 0).map(|open| open.oldest_queued);
    let dependency = |name: &&'static str| OpsDependency {
        name,
        ok: !failing.iter().any(|failing| failing.name == *name),
    };
    Ok(Json(OpsOverview {
        turns: OpenWork {
            queued: open.map(|open| open.queued),
            running: open.map(|open| open.running),
            oldest_queued_seconds: oldest_turn.map(|age| age.as_secs()),
        },
        executions: OpenWork {
            queued: runs.map(|(queued, _)| queued),
            running: runs.map(|(_, running)| running),
            oldest_queued_seconds: oldest_run.map(|age| age.as_secs()),
        },
        workers: workers(&app, &turns, &executions),
        live_turns: turns.into_iter().map(OpsTurn::from).collect(),
        live_executions: executions.into_iter().map(OpsExecution::from).collect(),
        queue: OpsQueue { depth, outbox_lag_seconds: lag.map(|(_, lag)| lag.as_secs()) },
        streams: OpsStreams { open: app.stream_permits.open() },
        dependencies: app.dependencies.iter().map(dependency).collect(),
        process: OpsProcess {
            version: env!("CARGO_PKG_VERSION"),
            uptime_seconds: app.process.started.elapsed().as_secs(),
            memory_bytes: memory(),
        },
    }))
}

/// This process, if it runs turns, and those that hold something that is listed.
fn workers(app: &App, turns: &[LiveTurn], executions: &[LiveExecution]) -> Vec<OpsWorker> {
    let now = app.ports.clock.now();
    let mut workers = Vec::new();
    if let Some(slots) = app.process.slots {
        workers.push(OpsWorker {
            name: app.engine.process().to_owned(),
            busy: 0,
            executions: 0,
            slots: Some(slots),
            last_seen: Some(now),
        });
    }
    let last_seen = |lease_left| last_seen(now, app.process.lease, lease_left);
    for holder in turns.iter().filter_map(|turn| turn.holder.as_ref()) {
        OpsWorker::of(&mut workers, holder.worker.process(), last_seen(holder.lease_left)).busy +=
            1;
    }
    for holder in executions.iter().filter_map(|run| run.holder.as_ref()) {
        let worker =
            OpsWorker::of(&mut workers, holder.worker.process(), last_seen(holder.lease_left));
        worker.executions += 1;
    }
    workers
}

/// When a claim was renewed that holds for so much longer.
fn last_seen(now: Timestamp, lease: Duration, lease_left: Duration) -> Option<Timestamp> {
    now.checked_sub(lease.saturating_sub(lease_left)).ok()
}

/// What the process holds in memory, where the system says so.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    resident(&status)
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_is_resident() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t   2048 kB\nThreads:\t1\n"), Some(2_097_152));
        assert_eq!(resident("Name:\tx\n"), None);
    }

    #[test]
    fn a_holder_was_seen_when_it_last_renewed() {
        let now = Timestamp::from_second(1_000).expect("a time");
        let seconds = Duration::from_secs;
        let seen = |left| last_seen(now, seconds(15), seconds(left)).map(|at| at.as_second());
        assert_eq!(
            (seen(15), seen(5), seen(0), seen(99)),
            (Some(1_000), Some(990), Some(985), Some(1_000))
        );
    }
}
