//! What every open stream of events does besides its events: it says that it lives, checks again what the client showed,
//! and breaks off when the server goes down.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, header};
use ports::PortError;
use tokio::time::Instant;

use super::App;
use super::auth::Identity;
use super::stream_permits::StreamPermit;

pub(super) const OPENING: &str = "retry: 1000\n\n";
pub(super) const HEARTBEAT: Bytes = Bytes::from_static(b": heartbeat\n\n");
pub(super) const DONE: &str = "data: [DONE]\n\n";
/// How often what is followed is looked at even when no hint comes.
pub(super) const POLL: Duration = Duration::from_secs(1);
/// How often what the client showed at the start is checked again.
const RECHECK: Duration = Duration::from_secs(60);

/// Why a stream ends before what it follows does. The connection is broken, never closed: to a client a clean
/// close looks like a complete answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("the server is shutting down")]
    ShuttingDown,
    #[error("the credentials are no longer valid")]
    Revoked,
    #[error("the stream is gone")]
    Gone,
    #[error("the stream could not be read: {0}")]
    Store(#[from] PortError),
}

/// What to do next.
pub(super) enum Next {
    /// It has been silent for long enough.
    Heartbeat,
    /// Wait for news, at most so long.
    Wait(Duration),
}

/// One open connection.
pub(super) struct Live {
    pub(super) app: Arc<App>,
    pub(super) identity: Identity,
    quiet_since: Instant,
    recheck_at: Instant,
    _permit: StreamPermit,
}

impl Live {
    pub(super) fn new(app: Arc<App>, identity: Identity, permit: StreamPermit) -> Self {
        let now = Instant::now();
        let recheck_at = now + app.auth.check_in(&identity, RECHECK);
        Self { quiet_since: now, recheck_at, app, identity, _permit: permit }
    }

    /// Something was sent.
    pub(super) fn spoke(&mut self) {
        self.quiet_since = Instant::now();
    }

    pub(super) async fn what_next(&mut self) -> Result<Next, Broken> {
        self.recheck().await?;
        let heartbeat_at = self.quiet_since + self.app.options.heartbeat;
        let now = Instant::now();
        if now >= heartbeat_at {
            return Ok(Next::Heartbeat);
        }
        Ok(Next::Wait(heartbeat_at.min(self.recheck_at).saturating_duration_since(now)))
    }

    /// What comes first: the news, or the end of the server.
    pub(super) async fn until_the_end<T>(
        &self,
        news: impl Future<Output = T>,
    ) -> Result<T, Broken> {
        tokio::select! {
            biased;
            news = news => Ok(news),
            () = self.app.streams_end.cancelled() => Err(Broken::ShuttingDown),
        }
    }

    async fn recheck(&mut self) -> Result<(), Broken> {
        if Instant::now() < self.recheck_at {
            return Ok(());
        }
        match self.app.auth.still_valid(&self.identity).await {
            Ok(true) => {}
            Ok(false) => return Err(Broken::Revoked),
            // What cannot be checked now is checked as soon as it can be.
            Err(PortError::Unavailable(_)) => {
                self.recheck_at = Instant::now() + POLL;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        // Never at once again: a token in its last moments must not make this a busy loop.
        let pause = self.app.auth.check_in(&self.identity, RECHECK).max(Duration::from_millis(100));
        self.recheck_at = Instant::now() + pause;
        Ok(())
    }
}

/// The answer whose body is a stream of events.
pub(super) fn answer(body: Body) -> Response {
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
