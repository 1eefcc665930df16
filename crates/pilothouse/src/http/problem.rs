//! How the API says no: a status, a stable code and a sentence, as `{"detail", "code"}`.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use ports::PortError;
use protocol::problem::ProblemCode;
use serde_json::{Value, json};

/// Seconds after which trying again makes sense.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

pub(crate) type Answer<T> = Result<T, Problem>;

#[derive(Clone, Debug)]
pub(crate) struct Problem {
    code: ProblemCode,
    detail: String,
    shape: Shape,
    /// What a program needs to know besides.
    more: Vec<(&'static str, Value)>,
}

/// Where the code stands. The routes of tasks keep the shape their clients know.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// `{"detail": "…", "code": "…"}`
    Flat,
    /// `{"detail": {"code": "…", "message": "…"}}`
    Nested,
}

/// The body of every answer that is not a success.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// A sentence for a person.
    detail: String,
    /// A stable code for a program.
    code: String,
}

impl Problem {
    pub(crate) fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), shape: Shape::Flat, more: Vec::new() }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ProblemCode::Invalid, detail)
    }

    pub(crate) fn no_session() -> Self {
        Self::new(ProblemCode::SessionNotFound, "There is no such session.")
    }

    pub(crate) fn message_id_reused() -> Self {
        Self::new(
            ProblemCode::MessageIdReused,
            "This message id was used before for another message.",
        )
    }

    pub(crate) fn too_many_follow_ups() -> Self {
        Self::new(
            ProblemCode::TooManyFollowUps,
            "As many messages wait for this answer as may wait. Send it again when they were taken.",
        )
    }

    pub(crate) fn unauthenticated(detail: impl Into<String>) -> Self {
        Self::new(ProblemCode::Unauthenticated, detail)
    }

    pub(crate) fn shutting_down() -> Self {
        Self::new(ProblemCode::ShuttingDown, "The server is restarting. Try again in a moment.")
    }

    /// With one more field beside the code.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.more.push((name, value.into()));
        self
    }

    /// With the code under `detail`, as the task routes have it.
    pub(crate) fn nested(mut self) -> Self {
        self.shape = Shape::Nested;
        self
    }
}

impl From<PortError> for Problem {
    /// This is where a failure behind a seam is handled, so it is logged here and nowhere else.
    fn from(error: PortError) -> Self {
        match error {
            PortError::Full => {
                tracing::warn!("a request was refused because the disk is full");
                Self::new(
                    ProblemCode::StorageFull,
                    "The server's disk is full. Nothing was changed.",
                )
            }
            PortError::Unavailable(reason) => {
                tracing::warn!(%reason, "a request failed because the store is not available");
                Self::new(
                    ProblemCode::Unavailable,
                    "The store is not available. Try again in a moment.",
                )
            }
            PortError::Closed => Self::shutting_down(),
            PortError::Broken(reason) => {
                tracing::error!(%reason, "a request failed by a fault of ours");
                Self::new(ProblemCode::Internal, "The server made a mistake. It has been logged.")
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status()).expect("codes name real statuses");
        let mut body = match self.shape {
            Shape::Flat => json!({"detail": self.detail, "code": self.code.as_str()}),
            Shape::Nested => {
                json!({"detail": {"code": self.code.as_str(), "message": self.detail}})
            }
        };
        for (name, value) in self.more {
            body[name] = value;
        }
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        if matches!(status.as_u16(), 429 | 503 | 507) {
            headers.insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
