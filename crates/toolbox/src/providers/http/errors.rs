//! Classifies provider failures and writes their messages. A message may quote the provider's own error text, without
//! the API key and without the URL.

use ports::model::{ModelError, ModelErrorKind};
use protocol::secret::SecretText;
use protocol::text::cut_end;
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::retry_after;

/// Characters of a provider's own error text that are passed on.
const MESSAGE_CHARS: usize = 300;

/// Removes secrets from texts that a provider may echo.
#[derive(Clone, Default)]
pub(crate) struct SecretRedactor(Vec<SecretText>);

impl SecretRedactor {
    pub(crate) fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut secrets: Vec<SecretText> = secrets.into_iter().map(SecretText::from).collect();
        // Longest first: removing the host before the URL would leave the rest of the URL.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        Self(secrets)
    }

    fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            text = secret.removed_from(&text);
        }
        let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        cut_end(plain.trim(), MESSAGE_CHARS)
    }
}

pub(crate) fn timed_out(what: &str) -> ModelError {
    ModelError::new(ModelErrorKind::TimedOut, format!("The model provider {what}."))
}

/// `why` is a noun phrase or a clause without a period.
pub(crate) fn broken(why: &str) -> ModelError {
    let message = format!("The model provider sent a response we couldn't read: {why}.");
    ModelError::new(ModelErrorKind::Broken, message)
}

/// Classifies a transport error. Its own text may contain the URL and is not passed on.
pub(crate) fn transport_error(error: &reqwest::Error) -> ModelError {
    if error.is_timeout() {
        return timed_out("could not be reached in time");
    }
    let what = if error.is_connect() {
        "Can't reach the model provider."
    } else {
        "The connection to the model provider was lost."
    };
    ModelError::new(ModelErrorKind::Unreachable, what)
}

/// Classifies an HTTP error status.
pub(crate) fn status_error(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    redactor: &SecretRedactor,
) -> ModelError {
    let body_error =
        serde_json::from_slice(body).map(|body| ProviderErrorBody::of(&body)).unwrap_or_default();
    let after = retry_after::of(headers);
    let kind = match status {
        300..=399 => ModelErrorKind::Broken,
        401 | 403 => ModelErrorKind::Auth,
        408 | 500.. => ModelErrorKind::Overloaded { after },
        // Out of credit: a retry cannot succeed.
        429 if body_error.out_of_credit() => ModelErrorKind::Refused,
        429 => ModelErrorKind::RateLimited { after },
        400 | 413 | 422 if body_error.too_long() || status == 413 => ModelErrorKind::TooLong,
        _ => ModelErrorKind::Refused,
    };
    let what = match status {
        429 => "is rate-limiting requests (429)".to_owned(),
        401 => "rejected this server's API key (401)".to_owned(),
        _ => format!("returned status {status}"),
    };
    body_error.into_error(kind, &what, redactor)
}

/// Classifies an error event in a stream that started successfully.
pub(crate) fn stream_error(body: &Value, redactor: &SecretRedactor) -> ModelError {
    let body_error = ProviderErrorBody::of(body);
    let status = body["error"]["code"].as_u64();
    let word = body_error.kind.as_str();
    let is = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    let kind = if body_error.too_long() {
        ModelErrorKind::TooLong
    } else if body_error.out_of_credit() {
        ModelErrorKind::Refused
    } else if is(&["rate_limit"]) || status == Some(429) {
        ModelErrorKind::RateLimited { after: None }
    } else if is(&["authentication", "permission"]) || matches!(status, Some(401 | 403)) {
        ModelErrorKind::Auth
    } else if is(&["invalid", "not_found", "content_filter", "billing", "moderation"])
        || matches!(status, Some(400..=499))
    {
        ModelErrorKind::Refused
    } else {
        // Overloaded, timed out, an internal error or an unknown kind: worth a retry.
        ModelErrorKind::Overloaded { after: None }
    };
    body_error.into_error(kind, "returned an error", redactor)
}

/// The error in a body of the form `{"error": {"message", "type", "code"}}` or similar.
#[derive(Default)]
struct ProviderErrorBody {
    message: String,
    /// Type and code together, in lower case.
    kind: String,
}

impl ProviderErrorBody {
    fn of(body: &Value) -> Self {
        let error = match &body["error"] {
            Value::Null => body,
            error => error,
        };
        let word = |value: &Value| value.as_str().unwrap_or_default().to_ascii_lowercase();
        let message = error.as_str().or_else(|| error["message"].as_str()).unwrap_or_default();
        let kind = format!("{} {}", word(&error["type"]), word(&error["code"]));
        Self { message: message.to_owned(), kind }
    }

    /// There is no common code, so common phrases are matched as well.
    fn too_long(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        let words = [
            "context length",
            "context window",
            "context size",
            "context_length",
            "too long",
            "too many tokens",
            "maximum number of tokens",
            "input length",
            "exceeds the available context",
            "reduce the length",
        ];
        ["context_length", "request_too_large", "exceed_context", "string_above_max"]
            .iter()
            .any(|word| self.kind.contains(word))
            || words.iter().any(|words| message.contains(words))
    }

    fn out_of_credit(&self) -> bool {
        self.kind.contains("insufficient_quota") || self.kind.contains("billing")
    }

    fn into_error(self, kind: ModelErrorKind, what: &str, redactor: &SecretRedactor) -> ModelError {
        let message = redactor.redact(&self.message);
        let sentence = if message.is_empty() {
            format!("The model provider {what}.")
        } else {
            format!("The model provider {what}: {message}")
        };
        ModelError::new(kind, sentence)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(status: u16, body: &Value) -> ModelErrorKind {
        status_error(
            status,
            &HeaderMap::new(),
            body.to_string().as_bytes(),
            &SecretRedactor::default(),
        )
        .kind
    }

    #[test]
    fn every_status_is_classified() {
        use ModelErrorKind::*;
        let plain = json!({"error": {"message": "no"}});
        let table = [
            (401, Auth),
            (403, Auth),
            (408, Overloaded { after: None }),
            (429, RateLimited { after: None }),
            (500, Overloaded { after: None }),
            (502, Overloaded { after: None }),
            (529, Overloaded { after: None }),
            (400, Refused),
            (402, Refused),
            (404, Refused),
            (422, Refused),
            (413, TooLong),
            (301, Broken),
        ];
        for (status, expected) in table {
            assert_eq!(kind(status, &plain), expected, "{status}");
        }
        let quota = json!({"error": {"code": "insufficient_quota", "message": "pay"}});
        assert_eq!(kind(429, &quota), Refused);
    }

    #[test]
    fn a_request_that_is_too_long_is_recognized_by_code_or_text() {
        for body in [
            json!({"error": {"code": "context_length_exceeded", "message": ""}}),
            json!({"error": {"type": "exceed_context_size_error", "code": 400}}),
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
            json!({"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400}),
            json!({"error": "the request exceeds the available context size"}),
        ] {
            assert_eq!(kind(400, &body), ModelErrorKind::TooLong, "{body}");
            assert_eq!(
                stream_error(&body, &SecretRedactor::default()).kind,
                ModelErrorKind::TooLong,
                "{body}"
            );
        }
    }

    #[test]
    fn an_error_in_a_stream_is_classified_by_its_kind() {
        use ModelErrorKind::*;
        for (body, expected) in [
            (json!({"error": {"type": "overloaded_error"}}), Overloaded { after: None }),
            (json!({"error": {"type": "rate_limit_error"}}), RateLimited { after: None }),
            (json!({"error": {"code": 429, "message": "slow"}}), RateLimited { after: None }),
            (json!({"error": {"code": 502, "message": "bad"}}), Overloaded { after: None }),
            (json!({"error": {"type": "authentication_error"}}), Auth),
            (json!({"error": {"type": "invalid_request_error"}}), Refused),
            (json!({"error": "who knows"}), Overloaded { after: None }),
        ] {
            assert_eq!(stream_error(&body, &SecretRedactor::default()).kind, expected, "{body}");
        }
    }

    #[test]
    fn a_message_is_short_and_contains_no_secret() {
        let redactor =
            SecretRedactor::new(["sk-abc", "http://llm.internal:8000/v1", "llm.internal"]);
        let body = json!({"error": {"message": format!(
            "bad key sk-abc\u{1b}[31m at http://llm.internal:8000/v1 {}", "x".repeat(1000)
        )}});
        let error =
            status_error(401, &HeaderMap::new(), body.to_string().as_bytes(), &redactor).message;
        assert!(!error.contains("sk-abc") && !error.contains("internal"), "{error}");
        assert!(!error.contains('\u{1b}') && error.chars().count() < 400);
        let html = b"<html>sk-abc</html>";
        let error = status_error(502, &HeaderMap::new(), html, &redactor).message;
        assert_eq!(error, "The model provider returned status 502.");
    }
}
