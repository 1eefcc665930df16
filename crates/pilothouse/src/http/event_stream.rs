//! What every open event stream does besides its events: sends heartbeats, rechecks the client's credentials, and
//! aborts when the server shuts down.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use ports::PortError;
use tokio::time::Instant;

use super::AppState;
use super::auth::CallerIdentity;
use super::stream_permits::StreamPermit;

pub(super) const OPENING: &str = "retry: 1000\n\n";
pub(super) const HEARTBEAT: Bytes = Bytes::from_static(b": heartbeat\n\n");
pub(super) const DONE: &str = "data: [DONE]\n\n";
/// How often a followed log is read even without a notification.
pub(super) const POLL: Duration = Duration::from_secs(1);
/// How often the client's credentials are rechecked.
const RECHECK: Duration = Duration::from_secs(60);

/// Why a stream ends early. The connection is reset, never closed: to a client a clean close looks like a complete
/// response.
#[derive(Debug, thiserror::Error)]
pub(super) enum StreamAborted {
    #[error("the server is shutting down")]
    ShuttingDown,
    #[error("the credentials are no longer valid")]
    Revoked,
    #[error("the stream is gone")]
    Gone,
    #[error("the stream could not be read: {0}")]
    Store(#[from] PortError),
}

/// What a stream does next.
pub(super) enum NextAction {
    /// Send a heartbeat.
    Heartbeat,
    /// Wait for events, at most this long.
    Wait(Duration),
}

/// One open event stream.
pub(super) struct EventStream {
    pub(super) app: Arc<AppState>,
    pub(super) identity: CallerIdentity,
    last_sent: Instant,
    recheck_at: Instant,
    _permit: StreamPermit,
}

impl EventStream {
    pub(super) fn new(app: Arc<AppState>, identity: CallerIdentity, permit: StreamPermit) -> Self {
        let now = Instant::now();
        let recheck_at = now + app.auth.recheck_after(&identity, RECHECK);
        Self { last_sent: now, recheck_at, app, identity, _permit: permit }
    }

    /// Postpones the next heartbeat after something was sent.
    pub(super) fn mark_sent(&mut self) {
        self.last_sent = Instant::now();
    }

    pub(super) async fn next_action(&mut self) -> Result<NextAction, StreamAborted> {
        self.recheck().await?;
        let heartbeat_at = self.last_sent + self.app.options.heartbeat;
        let now = Instant::now();
        if now >= heartbeat_at {
            return Ok(NextAction::Heartbeat);
        }
        Ok(NextAction::Wait(heartbeat_at.min(self.recheck_at).saturating_duration_since(now)))
    }

    /// The result of `event`, or an error when the server shuts down first.
    pub(super) async fn or_shutdown<T>(
        &self,
        event: impl Future<Output = T>,
    ) -> Result<T, StreamAborted> {
        tokio::select! {
            biased;
            result = event => Ok(result),
            () = self.app.streams_end.cancelled() => Err(StreamAborted::ShuttingDown),
        }
    }

    async fn recheck(&mut self) -> Result<(), StreamAborted> {
        if Instant::now() < self.recheck_at {
            return Ok(());
        }
        match self.app.auth.still_valid(&self.identity).await {
            Ok(true) => {}
            Ok(false) => return Err(StreamAborted::Revoked),
            // An unavailable store postpones the check.
            Err(PortError::Unavailable(_)) => {
                self.recheck_at = Instant::now() + POLL;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        // A minimum pause, so that a token in its last moments does not cause a busy loop.
        let pause =
            self.app.auth.recheck_after(&self.identity, RECHECK).max(Duration::from_millis(100));
        self.recheck_at = Instant::now() + pause;
        Ok(())
    }
}

/// The response with a stream of events as its body.
pub(super) fn event_stream_response(body: Body) -> Response {
    let mut response = body.into_response();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
