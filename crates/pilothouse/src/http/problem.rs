//! Error responses of the API: a status, a stable code and a sentence, as `{"detail", "code"}`.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use ports::PortError;
use protocol::problem::ProblemCode;
use serde_json::{Value, json};

/// Seconds after which a retry makes sense.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

pub(crate) type ApiResult<T> = Result<T, ApiProblem>;

#[derive(Clone, Debug)]
pub(crate) struct ApiProblem {
    code: ProblemCode,
    detail: String,
    shape: Shape,
    /// Additional fields of the body.
    more: Vec<(&'static str, Value)>,
}

/// Where the code is in the body. The task routes keep the shape their clients know.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// `{"detail": "…", "code": "…"}`
    Flat,
    /// `{"detail": {"code": "…", "message": "…"}}`
    Nested,
}

/// The body of every error response.
#[derive(serde::Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// A sentence for a person.
    detail: String,
    /// A stable code for a program.
    code: String,
}

impl ApiProblem {
    pub(crate) fn new(code: ProblemCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), shape: Shape::Flat, more: Vec::new() }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(ProblemCode::Invalid, detail)
    }

    pub(crate) fn no_session() -> Self {
        Self::new(ProblemCode::SessionNotFound, "Session not found.")
    }

    pub(crate) fn message_id_reused() -> Self {
        Self::new(
            ProblemCode::MessageIdReused,
            "This message id was already used for another message.",
        )
    }

    pub(crate) fn too_many_follow_ups() -> Self {
        Self::new(
            ProblemCode::TooManyFollowUps,
            "Too many follow-ups are waiting. Send this again after they have been delivered.",
        )
    }

    pub(crate) fn unauthenticated(detail: impl Into<String>) -> Self {
        Self::new(ProblemCode::Unauthenticated, detail)
    }

    pub(crate) fn shutting_down() -> Self {
        PortError::Closed.into()
    }

    /// Adds a field beside the code.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.more.push((name, value.into()));
        self
    }

    /// Moves the code under `detail`, as in the task routes.
    pub(crate) fn nested(mut self) -> Self {
        self.shape = Shape::Nested;
        self
    }
}

impl From<PortError> for ApiProblem {
    /// Port errors are handled here, so they are logged here and nowhere else.
    fn from(error: PortError) -> Self {
        let message = error.message();
        let code = match error {
            PortError::Full => {
                tracing::warn!("request refused: the disk is full");
                ProblemCode::StorageFull
            }
            PortError::Unavailable(reason) => {
                tracing::warn!(reason, "request failed: the store is not available");
                ProblemCode::Unavailable
            }
            PortError::Closed => ProblemCode::ShuttingDown,
            PortError::Broken(reason) => {
                tracing::error!(reason, "request failed: internal error in the store");
                ProblemCode::Internal
            }
        };
        Self::new(code, message)
    }
}

impl IntoResponse for ApiProblem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.code.status())
            .expect("every code maps to a valid HTTP status");
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
