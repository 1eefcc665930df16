//! Prometheus metrics: the recorded ones, and gauges read from the store at each scrape.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, header};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use ports::PortResult;
use protocol::execution::ExecutionStatus;
use protocol::turn::TurnStatus;

use crate::config::{AuthMode, Settings};
use crate::http::AppState;
use crate::http::problem::{ApiProblem, ApiResult};

/// Histogram buckets in seconds, from a commit to a long tool call.
const SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0,
];
/// Time limit of a read for a scrape, which has a time limit itself.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval of the recorder's upkeep; without it histograms keep every sample.
const UPKEEP: Duration = Duration::from_secs(5);

/// Who may read the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricsAccess {
    /// Everyone, on a server without sign-in.
    Open,
    /// Callers with the internal key.
    Key,
}

impl MetricsAccess {
    pub(crate) fn new(settings: &Settings) -> Self {
        match settings.auth_mode {
            AuthMode::Local => Self::Open,
            AuthMode::Jwt => Self::Key,
        }
    }
}

/// The dependencies whose availability is reported, by the names that `Health` uses.
pub(crate) fn dependencies(settings: &Settings) -> &'static [&'static str] {
    match settings.servers() {
        None => &["store"],
        Some(_) => &["postgres", "redis", "rabbitmq"],
    }
}

/// Installs the recorder. Call once per process.
pub(crate) fn install() -> anyhow::Result<PrometheusHandle> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)?;
    Ok(builder.install_recorder()?)
}

/// Runs until it is canceled.
pub(crate) async fn run_upkeep(handle: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP).await;
        handle.run_upkeep();
    }
}

pub(crate) async fn render(
    State(app): State<Arc<AppState>>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    admit(&app, &headers)?;
    measure(&app).await;
    let text = app.metrics.render();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// Refuses callers that may not read the metrics.
pub(crate) fn admit(app: &AppState, headers: &HeaderMap) -> ApiResult<()> {
    if app.metrics_access == MetricsAccess::Key && !app.internal_key.is_sent(headers) {
        return Err(ApiProblem::unauthenticated("Send CHAT_INTERNAL_API_KEY as `x-api-key`."));
    }
    Ok(())
}

/// Values that cannot be read become NaN: metrics are needed most while a dependency is down.
async fn measure(app: &AppState) {
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

/// The result, unless it fails or takes too long.
pub(crate) async fn within<T>(read: impl Future<Output = PortResult<T>>) -> Option<T> {
    tokio::time::timeout(READ_TIMEOUT, read).await.ok()?.ok()
}
