//! A request as a block describes it, sent, and its answer read.

use std::time::Duration;

use ports::block::{BlockContext, BlockError};
use protocol::block::MeteredUsage;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::super::files::{Content, Media};
use super::super::{Parts, failures};
use super::multipart;
use crate::egress::{self, EgressRequest, FetchLimits, FetchedResponse};
use crate::tools::page_text;
use crate::values::into_text;

/// Of an answer, unpacked.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
const TOTAL_TIME: Duration = Duration::from_secs(120);
const IDLE_TIME: Duration = Duration::from_secs(60);
const MAX_FILES: usize = 20;

#[derive(Deserialize, JsonSchema)]
pub(super) struct WebRequest {
    /// The complete address, with https:// or http://.
    pub(super) url: String,
    /// What the server is asked to do.
    #[serde(default)]
    pub(super) method: HttpMethod,
    /// Headers, by name.
    #[serde(default)]
    headers: Map<String, Value>,
    /// Send the body as JSON. Otherwise an object is sent as a form, and a text as it is.
    #[serde(default = "yes")]
    json_format: bool,
    /// What is sent.
    #[serde(default)]
    body: Value,
    /// The name of the form field that carries the files.
    #[serde(default = "file")]
    files_name: String,
    /// Files to send in a form: addresses of the web, data URIs, or paths in the workspace. Set json_format to false.
    #[serde(default)]
    files: Vec<String>,
}

fn yes() -> bool {
    true
}

fn file() -> String {
    "file".to_owned()
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum HttpMethod {
    Get,
    #[default]
    Post,
    Put,
    Delete,
    Patch,
    Options,
    Head,
}

impl HttpMethod {
    pub(super) fn only_reads(self) -> bool {
        matches!(self, Self::Get | Self::Options | Self::Head)
    }

    fn name(self) -> egress::Method {
        match self {
            Self::Get => egress::Method::GET,
            Self::Post => egress::Method::POST,
            Self::Put => egress::Method::PUT,
            Self::Delete => egress::Method::DELETE,
            Self::Patch => egress::Method::PATCH,
            Self::Options => egress::Method::OPTIONS,
            Self::Head => egress::Method::HEAD,
        }
    }
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content: Value,
}

pub(super) struct Sender {
    egress: egress::EgressClient,
    media: Media,
}

impl Sender {
    pub(super) fn new(parts: &Parts) -> Self {
        Self { egress: parts.egress.clone(), media: Media::new(parts) }
    }

    pub(super) async fn send(
        &self,
        request: WebRequest,
        context: &BlockContext,
    ) -> Result<Answer, BlockError> {
        let files = self.files(&request, context).await?;
        let mut sent = EgressRequest::new(request.method.name(), &request.url);
        for (name, value) in &request.headers {
            sent = sent.header(name, &into_text(value.clone())).map_err(failures::network)?;
        }
        if let Some((content_type, body)) = body(&request, &files) {
            sent = sent.body(&content_type, body);
        }
        let limits = FetchLimits {
            bytes: ANSWER_BYTES,
            total: TOTAL_TIME,
            idle: IDLE_TIME,
            accepts: |_| true,
        };
        let answer = failures::unless_stopped(context, self.egress.send(sent, limits))
            .await?
            .map_err(failures::network)?;
        context
            .meter
            .add(MeteredUsage { bytes: answer.body.len() as u64, ..MeteredUsage::default() });
        if answer.truncated {
            return Err(BlockError::failed(format!(
                "The answer is longer than {ANSWER_BYTES} bytes."
            )));
        }
        Ok(Answer { status: answer.status, content: content(&answer) })
    }

    async fn files(
        &self,
        request: &WebRequest,
        context: &BlockContext,
    ) -> Result<Vec<Content>, BlockError> {
        if !request.files.is_empty() && request.json_format {
            return Err(BlockError::failed(
                "Files cannot be sent as JSON. Set json_format to false; the body becomes fields of the form.",
            ));
        }
        if request.files.len() > MAX_FILES {
            return Err(BlockError::failed(format!("At most {MAX_FILES} files can be sent.")));
        }
        let mut files = Vec::new();
        for file in &request.files {
            files.push(self.media.read(file, context).await?);
        }
        Ok(files)
    }
}

/// The type of the body and its bytes; `None` when there is nothing to send.
fn body(request: &WebRequest, files: &[Content]) -> Option<(String, Vec<u8>)> {
    // A text that is JSON means that JSON: agents often carry it so.
    let body = match &request.body {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| request.body.clone()),
        other => other.clone(),
    };
    if !files.is_empty() {
        let none = Map::new();
        return Some(multipart::form(
            body.as_object().unwrap_or(&none),
            &request.files_name,
            files,
        ));
    }
    match body {
        Value::Null => None,
        Value::String(text) => Some(("text/plain; charset=utf-8".to_owned(), text.into_bytes())),
        body if request.json_format => {
            Some(("application/json".to_owned(), body.to_string().into_bytes()))
        }
        Value::Object(fields) => {
            let mut form = form_urlencoded::Serializer::new(String::new());
            form.extend_pairs(fields.iter().map(|(name, value)| (name, into_text(value.clone()))));
            let kind = "application/x-www-form-urlencoded".to_owned();
            Some((kind, form.finish().into_bytes()))
        }
        body => Some(("text/plain; charset=utf-8".to_owned(), into_text(body).into_bytes())),
    }
}

fn content(answer: &FetchedResponse) -> Value {
    let text = page_text::decode(&answer.body, &answer.content_type);
    let is_json =
        answer.content_type.trim_start().to_ascii_lowercase().starts_with("application/json");
    match is_json {
        true if text.is_empty() => Value::Null,
        true => serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.into_owned())),
        false => Value::String(text.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_is_sent_as_what_it_is() {
        for (request, kind, sent) in [
            (json!({ "body": { "a": 1 } }), "application/json", r#"{"a":1}"#),
            (json!({ "body": "{\"a\": 1}" }), "application/json", r#"{"a":1}"#),
            (json!({ "body": "just words" }), "text/plain; charset=utf-8", "just words"),
            (
                json!({ "body": { "a b": "1&2", "n": 3 }, "json_format": false }),
                "application/x-www-form-urlencoded",
                "a+b=1%262&n=3",
            ),
        ] {
            let mut whole = request.clone();
            whole["url"] = json!("https://a.example/");
            let request_read: WebRequest = serde_json::from_value(whole).expect("a request");
            let (content_type, bytes) = body(&request_read, &[]).expect("a body");
            assert_eq!((content_type.as_str(), &bytes[..]), (kind, sent.as_bytes()), "{request}");
        }
        let nothing: WebRequest = serde_json::from_value(json!({ "url": "x" })).expect("a request");
        assert!(body(&nothing, &[]).is_none());
    }
}
