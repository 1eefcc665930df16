//! The state of the whole server for operators: counts, ids, ages and tool names, but no message content.

mod body;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};
use ports::store::ProcessWorkload;
use tokio::time::Instant;

use self::body::{
    OpenWork, OpsDependency, OpsExecution, OpsOverview, OpsProcess, OpsQueue, OpsStreams, OpsTurn,
    OpsWorker,
};
use crate::config::{ProcessRole, Settings};
use crate::http::AppState;
use crate::http::problem::{ApiResult, ProblemBody};
use crate::http::routes::metrics::{admit, within};

/// Listed turns and executions. There can be more; the counts and the workers include all.
const LISTED: u32 = 100;

/// What this process knows about itself.
pub(crate) struct ProcessInfo {
    started: Instant,
    /// Turns that it runs at the same time; none if it only serves clients.
    slots: Option<usize>,
    /// How long a claim is valid after it was renewed.
    lease: Duration,
}

impl ProcessInfo {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            started: Instant::now(),
            slots: settings.roles.has(ProcessRole::Executor).then_some(settings.workers),
            lease: settings.turn_lease.0,
        }
    }
}

/// Read the current state of the server.
///
/// Open to all on a server without sign-in; otherwise it requires the internal key as `x-api-key`.
#[utoipa::path(
    get, path = "/ops/overview", operation_id = "ops_overview", tag = "service",
    responses((status = 200, description = "The overview", body = OpsOverview), (status = 401, description = "The internal key is missing", body = ProblemBody)),
    security((), ("api_key" = []))
)]
pub(crate) async fn overview(
    State(app): State<Arc<AppState>>,
    headers: HeaderMap,
) -> ApiResult<Json<OpsOverview>> {
    admit(&app, &headers)?;
    let ports = &app.ports;
    // Values that cannot be read are left out: this page is needed most while a dependency is down.
    let (open, runs, turns, executions, workloads, depth, lag, failing) = tokio::join!(
        within(ports.turns.count_open()),
        within(ports.executions.count_open()),
        within(ports.reports.live_turns(LISTED)),
        within(ports.reports.live_executions(LISTED)),
        within(ports.reports.workloads()),
        within(ports.queue.depth()),
        within(ports.outbox.lag()),
        ports.health.failing(),
    );
    let oldest_run = executions.as_ref().and_then(|live| live.oldest_queued);
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
        workers: workers(&app, workloads),
        live_turns: turns.map(|turns| turns.into_iter().map(OpsTurn::from).collect()),
        live_executions: executions
            .map(|live| live.runs.into_iter().map(OpsExecution::from).collect()),
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

/// This process, if it runs turns, and all processes that hold claims. When the claims could not be read, only this
/// process, without counts.
fn workers(app: &AppState, workloads: Option<Vec<ProcessWorkload>>) -> Option<Vec<OpsWorker>> {
    let now = app.ports.clock.now();
    let this = app.process.slots.map(|slots| OpsWorker {
        name: app.engine.process().to_owned(),
        busy: workloads.as_ref().map(|_| 0),
        executions: workloads.as_ref().map(|_| 0),
        slots: Some(slots),
        last_seen: Some(now),
    });
    let Some(workloads) = workloads else { return this.map(|this| vec![this]) };
    let mut workers = Vec::from_iter(this);
    for held in workloads {
        let (busy, executions) = (Some(held.turns), Some(held.executions));
        match workers.first_mut().filter(|this| this.name == held.process) {
            Some(this) => (this.busy, this.executions) = (busy, executions),
            None => workers.push(OpsWorker {
                name: held.process,
                busy,
                executions,
                slots: None,
                last_seen: held.lease_left.and_then(|left| last_seen(now, app.process.lease, left)),
            }),
        }
    }
    Some(workers)
}

/// When a claim with this remaining time (negative: expired) was last renewed.
fn last_seen(now: Timestamp, lease: Duration, left: SignedDuration) -> Option<Timestamp> {
    let lease = SignedDuration::try_from(lease).ok()?;
    // A claim longer than our lease was renewed by a process with a different setting.
    now.checked_sub(lease.saturating_sub(left).max(SignedDuration::ZERO)).ok()
}

/// Resident memory of the process, where the system reports it.
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
    fn memory_is_the_resident_size() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t   2048 kB\nThreads:\t1\n"), Some(2_097_152));
        assert_eq!(resident("Name:\tx\n"), None);
    }

    #[test]
    fn a_holder_was_last_seen_when_it_renewed_its_claim() {
        let now = Timestamp::from_second(1_000).expect("a time");
        let lease = Duration::from_secs(15);
        let seen = |left| last_seen(now, lease, SignedDuration::from_secs(left));
        let seen = |left| seen(left).map(|at| at.as_second());
        assert_eq!(
            (seen(15), seen(5), seen(0), seen(-600), seen(99)),
            (Some(1_000), Some(990), Some(985), Some(385), Some(1_000))
        );
    }
}
