//! Numbers for Prometheus: what the parts of the program have counted, and what the store says right now.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, header};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use ports::PortResult;
use protocol::execution::ExecutionStatus;
use protocol::turn::TurnStatus;

use super::App;
use super::problem::{Answer, Problem};
use crate::config::{AuthMode, Settings};

/// Bounds for everything that is measured in seconds, from a commit to a long tool call.
const SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
];
/// Whoever collects the numbers does not wait long either.
const PATIENCE: Duration = Duration::from_secs(2);
/// Without it histograms keep every sample they have ever seen.
const UPKEEP: Duration = Duration::from_secs(5);

/// Who may read the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody who reaches a server without a login.
    Open,
    /// Whoever shows the internal key.
    Key,
}

impl Access {
    pub(crate) fn new(settings: &Settings) -> Self {
        match settings.auth_mode {
            AuthMode::Local => Self::Open,
            AuthMode::Jwt => Self::Key,
        }
    }
}

/// What the numbers say whether it is there, by the names that `Health` uses.
pub(crate) fn dependencies(settings: &Settings) -> &'static [&'static str] {
    match settings.servers() {
        None => &["store"],
        Some(_) => &["postgres", "redis", "rabbitmq"],
    }
}

/// Makes this process count. Once per process.
pub(crate) fn install() -> anyhow::Result<PrometheusHandle> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)?;
    Ok(builder.install_recorder()?)
}

/// Runs for ever; whoever starts it ends it.
pub(crate) async fn keep_up(handle: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        handle.run_upkeep();
    }
}

pub(crate) async fn render(State(app): State<Arc<App>>, headers: HeaderMap) -> Answer<Response> {
    admit(&app, &headers)?;
    measure(&app).await;
    let text = app.metrics.render();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// Refuses whoever may not see how the server is doing.
pub(super) fn admit(app: &App, headers: &HeaderMap) -> Answer<()> {
    if app.metrics_access == Access::Key && !app.internal_key.is_shown(headers) {
        return Err(Problem::unauthenticated("Send CHAT_INTERNAL_API_KEY as `x-api-key`."));
    }
    Ok(())
}

/// What cannot be read is shown as not a number: the rest must be there while a server is down, when it is needed most.
async fn measure(app: &App) {
    let (open, runs, depth, lag, failing) = tokio::join!(
        within(app.ports.turns.count_open()),
        within(app.ports.executions.count_open()),
        within(app.ports.queue.depth()),
        within(app.ports.outbox.lag()),
        app.ports.health.failing(),
    );
    let counted = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64);
    let timed = |time: Option<Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64());
    for (status, count) in [
        (TurnStatus::Queued, open.map(|open| open.queued)),
        (TurnStatus::Running, open.map(|open| open.running)),
    ] {
        metrics::gauge!("pilothouse_turns", "status" => status.as_str()).set(counted(count));
    }
    for (status, count) in [
        (ExecutionStatus::Queued, runs.map(|(queued, _)| queued)),
        (ExecutionStatus::Running, runs.map(|(_, running)| running)),
    ] {
        metrics::gauge!("pilothouse_executions", "status" => status.as_str()).set(counted(count));
    }
    metrics::gauge!("pilothouse_queue_oldest_age_seconds")
        .set(timed(open.map(|open| open.oldest_queued)));
    metrics::gauge!("pilothouse_queue_depth").set(counted(depth));
    metrics::gauge!("pilothouse_outbox_waiting").set(counted(lag.map(|(waiting, _)| waiting)));
    metrics::gauge!("pilothouse_outbox_lag_seconds").set(timed(lag.map(|(_, lag)| lag)));
    for name in app.dependencies {
        let up = !failing.iter().any(|failing| failing.name == *name);
        metrics::gauge!("pilothouse_dependency_up", "name" => *name).set(f64::from(up));
    }
    metrics::gauge!("pilothouse_running_turns").set(app.engine.active() as f64);
    metrics::gauge!("pilothouse_open_streams").set(app.stream_permits.open() as f64);
    metrics::gauge!("pilothouse_open_connections").set(app.connections.count() as f64);
}

/// The answer, if there is one soon.
pub(super) async fn within<T>(question: impl Future<Output = PortResult<T>>) -> Option<T> {
    tokio::time::timeout(PATIENCE, question).await.ok()?.ok()
}
