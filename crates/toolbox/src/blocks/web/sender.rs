//! Sends a web request described by block inputs, and reads the response.

use std::time::Duration;

use ports::block::{BlockContext, BlockError};
use protocol::block::MeteredUsage;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::multipart;
use crate::blocks::files::{FileContent, FileLoader};
use crate::blocks::{BlockDependencies, failures};
use crate::egress::{self, EgressRequest, FetchLimits, FetchedResponse};
use crate::page_text;
use crate::values::into_text;

/// Limit on a response body, uncompressed.
const MAX_RESPONSE_BYTES: usize = 4 * 1024 * 1024;
const TOTAL_TIME: Duration = Duration::from_secs(120);
const IDLE_TIME: Duration = Duration::from_secs(60);
const MAX_FILES: usize = 20;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct WebRequest {
    /// The full URL, including https:// or http://.
    pub(crate) url: String,
    /// The HTTP method.
    #[serde(default)]
    pub(crate) method: HttpMethod,
    /// The request headers, by name.
    #[serde(default)]
    headers: Map<String, Value>,
    /// Send the body as JSON. If off, an object is sent as a form and text as plain text.
    #[serde(default = "yes")]
    json_format: bool,
    /// The request body.
    #[serde(default)]
    body: Value,
    /// The name of the form field for the files.
    #[serde(default = "file")]
    files_name: String,
    /// Files to upload in a form: URLs, data URIs or workspace paths. Requires json_format to be off.
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
pub(crate) enum HttpMethod {
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
    pub(crate) fn is_read_only(self) -> bool {
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

pub(crate) struct WebResponse {
    pub(crate) status: u16,
    pub(crate) content: Value,
}

pub(crate) struct WebRequestSender {
    egress: egress::EgressClient,
    loader: FileLoader,
}

impl WebRequestSender {
    pub(crate) fn new(dependencies: &BlockDependencies) -> Self {
        Self { egress: dependencies.egress.clone(), loader: FileLoader::new(dependencies) }
    }

    pub(crate) async fn send(
        &self,
        request: WebRequest,
        context: &BlockContext,
    ) -> Result<WebResponse, BlockError> {
        let files = self.files(&request, context).await?;
        let mut sent = EgressRequest::new(request.method.name(), &request.url);
        for (name, value) in &request.headers {
            sent = sent.header(name, &into_text(value.clone())).map_err(failures::network)?;
        }
        if let Some((content_type, body)) = body(&request, &files) {
            sent = sent.body(&content_type, body);
        }
        let limits = FetchLimits {
            bytes: MAX_RESPONSE_BYTES,
            total: TOTAL_TIME,
            idle: IDLE_TIME,
            accepts: |_| true,
        };
        let response = failures::unless_stopped(context, self.egress.send(sent, limits))
            .await?
            .map_err(failures::network)?;
        context
            .meter
            .add(MeteredUsage { bytes: response.body.len() as u64, ..MeteredUsage::default() });
        if response.truncated {
            return Err(BlockError::failed(format!(
                "The response is longer than the limit of {MAX_RESPONSE_BYTES} bytes."
            )));
        }
        Ok(WebResponse { status: response.status, content: content(&response) })
    }

    async fn files(
        &self,
        request: &WebRequest,
        context: &BlockContext,
    ) -> Result<Vec<FileContent>, BlockError> {
        if !request.files.is_empty() && request.json_format {
            return Err(BlockError::failed(
                "Files cannot be sent as JSON. Set json_format to false; the body is then sent as form fields.",
            ));
        }
        if request.files.len() > MAX_FILES {
            return Err(BlockError::failed(format!("Too many files. The limit is {MAX_FILES}.")));
        }
        let mut files = Vec::new();
        for file in &request.files {
            files.push(self.loader.read(file, context).await?);
        }
        Ok(files)
    }
}

/// The content type and bytes of the body; `None` if there is no body.
fn body(request: &WebRequest, files: &[FileContent]) -> Option<(String, Vec<u8>)> {
    // Text that is valid JSON is sent as JSON, because agents often pass JSON as text.
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

fn content(response: &FetchedResponse) -> Value {
    let text = page_text::decode(&response.body, &response.content_type);
    let is_json =
        response.content_type.trim_start().to_ascii_lowercase().starts_with("application/json");
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
    fn the_body_type_follows_the_content() {
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
