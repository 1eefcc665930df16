//! The response body of every event stream. It asks its source for events only when the socket accepts bytes; besides
//! them it sends heartbeats, rechecks the client's credentials, and aborts when the server shuts down.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use ports::PortError;
use protocol::cursor;
use tokio::time::Instant;

use crate::http::AppState;
use crate::http::extract::CallerIdentity;
use crate::http::problem::ApiResult;
use crate::http::server::PeerAddress;
use crate::http::stream::StreamPermit;

pub(crate) const OPENING: &str = "retry: 1000\n\n";
pub(crate) const DONE: &str = "data: [DONE]\n\n";
const HEARTBEAT: Bytes = Bytes::from_static(b": heartbeat\n\n");
/// How often a followed log is read even without a notification.
pub(crate) const POLL: Duration = Duration::from_secs(1);
/// How often the client's credentials are rechecked.
const RECHECK: Duration = Duration::from_secs(60);

/// What a stream sends: the events of a turn or of an execution.
pub(crate) trait EventSource: Send + 'static {
    /// Waits for events, at most `max_wait`.
    fn next(
        &mut self,
        connection: &StreamConnection,
        max_wait: Duration,
    ) -> impl Future<Output = Result<SourceUpdate, StreamAborted>> + Send;

    fn log_abort(&self, reason: &StreamAborted);
}

pub(crate) enum SourceUpdate {
    Events(Bytes),
    /// Nothing to send yet.
    Silent,
    /// The last event has been sent.
    End,
}

/// Why a stream ends early. The connection is reset, never closed: to a client a clean close looks like a complete
/// response.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StreamAborted {
    #[error("the server is shutting down")]
    ShuttingDown,
    #[error("the credentials are no longer valid")]
    Revoked,
    #[error("the stream is gone")]
    Gone,
    #[error("the stream could not be read: {0}")]
    Store(#[from] PortError),
}

/// The client of one open stream.
pub(crate) struct StreamConnection {
    pub(crate) app: Arc<AppState>,
    pub(crate) identity: CallerIdentity,
    _permit: StreamPermit,
}

impl StreamConnection {
    /// Refuses a caller with too many open streams.
    pub(crate) fn open(
        app: Arc<AppState>,
        identity: CallerIdentity,
        peer: PeerAddress,
    ) -> ApiResult<Self> {
        let permit = app.stream_permits.take(&identity.owner, peer)?;
        Ok(Self { app, identity, _permit: permit })
    }

    /// The response that streams a source.
    pub(crate) fn respond(self, source: impl EventSource) -> Response {
        let pieces = stream::unfold(EventStream::new(self, source), |mut stream| async move {
            let piece = stream.next().await?;
            if let Err(reason) = &piece {
                stream.source.log_abort(reason);
            }
            Some((piece, stream))
        });
        event_stream_response(Body::from_stream(pieces))
    }

    /// The result of `event`, or an error when the server shuts down first.
    pub(crate) async fn or_shutdown<T>(
        &self,
        event: impl Future<Output = T>,
    ) -> Result<T, StreamAborted> {
        tokio::select! {
            biased;
            result = event => Ok(result),
            () = self.app.streams_end.cancelled() => Err(StreamAborted::ShuttingDown),
        }
    }

    fn recheck_after(&self) -> Duration {
        self.app.auth.recheck_after(&self.identity, RECHECK)
    }
}

struct EventStream<S> {
    connection: StreamConnection,
    source: S,
    stage: StreamStage,
    last_sent: Instant,
    recheck_at: Instant,
}

enum StreamStage {
    Opening,
    Following,
    Over,
}

impl<S: EventSource> EventStream<S> {
    fn new(connection: StreamConnection, source: S) -> Self {
        let now = Instant::now();
        let recheck_at = now + connection.recheck_after();
        Self { connection, source, stage: StreamStage::Opening, last_sent: now, recheck_at }
    }

    /// The next bytes to send; `None` closes the body cleanly.
    async fn next(&mut self) -> Option<Result<Bytes, StreamAborted>> {
        match self.stage {
            StreamStage::Over => return None,
            // Sent at once, so that the client has the response headers before the first event.
            StreamStage::Opening => {
                self.stage = StreamStage::Following;
                return Some(Ok(Bytes::from_static(OPENING.as_bytes())));
            }
            StreamStage::Following => {}
        }
        let piece = self.follow().await;
        if piece.is_err() {
            self.stage = StreamStage::Over;
        }
        self.last_sent = Instant::now();
        Some(piece)
    }

    async fn follow(&mut self) -> Result<Bytes, StreamAborted> {
        loop {
            self.recheck().await?;
            let heartbeat_at = self.last_sent + self.connection.app.options.heartbeat;
            let now = Instant::now();
            if now >= heartbeat_at {
                return Ok(HEARTBEAT);
            }
            let max_wait = heartbeat_at.min(self.recheck_at).saturating_duration_since(now);
            match self.source.next(&self.connection, max_wait).await? {
                SourceUpdate::Events(events) => return Ok(events),
                SourceUpdate::Silent => {}
                SourceUpdate::End => {
                    self.stage = StreamStage::Over;
                    return Ok(Bytes::from_static(DONE.as_bytes()));
                }
            }
        }
    }

    async fn recheck(&mut self) -> Result<(), StreamAborted> {
        if Instant::now() < self.recheck_at {
            return Ok(());
        }
        let StreamConnection { app, identity, .. } = &self.connection;
        match app.auth.still_valid(identity).await {
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
        let pause = self.connection.recheck_after().max(Duration::from_millis(100));
        self.recheck_at = Instant::now() + pause;
        Ok(())
    }
}

/// The last event that a resuming client has received: from `Last-Event-ID`, otherwise from its query.
pub(crate) fn last_received(headers: &HeaderMap, query: Option<&str>) -> Option<u64> {
    let sent = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    sent.or(query).and_then(cursor::parse)
}

/// The response with a stream of events as its body.
pub(crate) fn event_stream_response(body: Body) -> Response {
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
