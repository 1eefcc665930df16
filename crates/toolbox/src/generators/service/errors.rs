//! Names what went wrong with a request to the service. The kinds are part of error codes that clients see.

use ports::agent_generator::GeneratorError;
use protocol::text::cut_end;
use reqwest::StatusCode;

/// Characters of the service's own text that are passed on.
const REASON_CHARS: usize = 500;

/// The service did not answer in time.
pub(crate) fn timed_out() -> GeneratorError {
    GeneratorError::new("timeout", "The agent generator did not answer in time.")
}

/// The request or its answer did not get through.
pub(crate) fn request_failed(error: reqwest::Error) -> GeneratorError {
    let kind = match &error {
        error if error.is_timeout() => return timed_out(),
        error if error.is_connect() => "connection_error",
        error if error.is_body() || error.is_request() || error.is_decode() => "request_error",
        _ => "unexpected_error",
    };
    // The operator needs the cause, which often is only in the source of the error; the URL is known.
    let error = error.without_url();
    tracing::warn!(%error, cause = %cause(&error), "a request to the agent generator failed");
    let message = match kind {
        "connection_error" => "The agent generator cannot be reached.",
        _ => "The connection to the agent generator ended before its answer was complete.",
    };
    GeneratorError::new(kind, message)
}

/// The service answered with an error status.
pub(crate) fn refused(status: StatusCode, body: &str) -> GeneratorError {
    let kind = match status {
        StatusCode::TOO_MANY_REQUESTS => "rate_limit",
        StatusCode::SERVICE_UNAVAILABLE => "service_unavailable",
        StatusCode::GATEWAY_TIMEOUT | StatusCode::REQUEST_TIMEOUT => "timeout",
        _ => "http_error",
    };
    let reason = cut_end(body.trim(), REASON_CHARS);
    let colon = if reason.is_empty() { "." } else { ": " };
    let message = format!("The agent generator returned status {}{colon}{reason}", status.as_u16());
    GeneratorError::new(kind, message)
}

/// The answer is JSON, but not what was asked for.
pub(crate) fn invalid_response(what: &str) -> GeneratorError {
    let message = format!("The agent generator gave an answer that cannot be used: {what}.");
    GeneratorError::new("invalid_response", message)
}

/// The answer is no answer at all.
pub(crate) fn unexpected(what: &str) -> GeneratorError {
    let message = format!("The agent generator gave an unexpected answer: {what}.");
    GeneratorError::new("unexpected_error", message)
}

/// The innermost cause.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
