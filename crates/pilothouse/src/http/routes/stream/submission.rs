//! The body that starts a turn, in two shapes: a plain message, or the request of an unmodified AI SDK client. Both
//! become one `TurnSubmission`.

use std::collections::BTreeMap;

use engine::{SubmissionKind, TurnSubmission};
use protocol::permissions::{CapabilityFilter, Permissions};
use protocol::problem::ProblemCode;
use protocol::turn::{ModelTier, TurnMode, TurnRequest};
use protocol::{MessageId, SessionId, limits};
use serde::Deserialize;
use serde_json::Value;

use crate::http::problem::{ApiProblem, ApiResult};

/// Maximum entries of a context, and characters of a file id.
const CONTEXT_ENTRIES: usize = 20;
const FILE_ID_CHARS: usize = 128;
/// Maximum names in each list of the permissions, and characters of a name.
const PERMISSION_NAMES: usize = 200;
const NAME_CHARS: usize = 100;

// Deserialized by `read`: the errors of the derived implementation only say that no variant matched.
/// The message that starts a turn: plain, or as an AI SDK client sends it.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub(crate) enum StreamRequest {
    Message(PlainMessage),
    Messages(UiMessages),
}

/// One message.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct PlainMessage {
    /// 1 to 64 000 characters.
    message: String,
    /// Must be true: only a user's message starts a turn.
    #[serde(default)]
    is_user_message: Option<bool>,
    /// Client-chosen id: sending the message again joins the turn it started.
    #[serde(default)]
    message_id: Option<String>,
    #[serde(flatten)]
    options: MessageOptions,
}

/// The request of `DefaultChatTransport`. The last user message is used; its id makes the request idempotent.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UiMessages {
    /// UI messages, of which only the last user message is read.
    #[schema(value_type = Vec<UiMessage>)]
    messages: Vec<Value>,
    #[serde(default)]
    trigger: Option<Trigger>,
    /// With `regenerate-message`: the assistant message to regenerate; the last one when absent.
    #[serde(default)]
    message_id: Option<String>,
    #[serde(flatten)]
    options: MessageOptions,
}

/// Options of both shapes.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
pub(crate) struct MessageOptions {
    /// What the user is looking at, for example `url` and `content` of a page.
    #[serde(default)]
    context: Option<BTreeMap<String, String>>,
    /// Ids of files in the session's workspace, at most 20.
    #[serde(default)]
    file_ids: Option<Vec<String>>,
    #[serde(default)]
    mode: Option<TurnMode>,
    #[serde(default)]
    model: Option<ModelTier>,
    /// The tools and blocks that the turn, and everything it delegates, may use.
    #[serde(default)]
    permissions: Option<CapabilityFilter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Trigger {
    SubmitMessage,
    RegenerateMessage,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct UiMessage {
    id: Option<String>,
    parts: Vec<UiPart>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
struct UiPart {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

impl StreamRequest {
    /// A body with `messages` comes from the AI SDK; any other is a plain message.
    pub(crate) fn read(body: Value) -> ApiResult<Self> {
        let invalid =
            |error: serde_json::Error| ApiProblem::invalid(format!("Invalid body: {error}"));
        if body.get("messages").is_some() {
            serde_json::from_value(body).map(Self::Messages).map_err(invalid)
        } else {
            // `flatten` disables `deny_unknown_fields`, so the check is made here.
            refuse_unknown_fields(&body)?;
            serde_json::from_value(body).map(Self::Message).map_err(invalid)
        }
    }

    pub(crate) fn into_submission(self, session_id: SessionId) -> ApiResult<TurnSubmission> {
        let (kind, options) = match self {
            Self::Message(plain) => {
                if plain.is_user_message == Some(false) {
                    return Err(ApiProblem::invalid("is_user_message must be true."));
                }
                let file_ids = plain.options.files()?;
                let kind = SubmissionKind::Message {
                    text: checked_text(plain.message)?,
                    client_id: plain.message_id.map(checked_id).transpose()?,
                    file_ids,
                };
                (kind, plain.options)
            }
            Self::Messages(ui) if ui.trigger == Some(Trigger::RegenerateMessage) => {
                let from = ui.message_id.map(checked_id).transpose()?.map(MessageId);
                (SubmissionKind::Regenerate { from }, ui.options)
            }
            Self::Messages(ui) => {
                let message = last_user_message(ui.messages)?;
                let kind = SubmissionKind::Message {
                    text: checked_text(text_of(&message.parts)?)?,
                    client_id: message.id.map(checked_id).transpose()?,
                    file_ids: ui.options.files()?,
                };
                (kind, ui.options)
            }
        };
        Ok(TurnSubmission { session_id, request: options.request()?, kind })
    }
}

impl MessageOptions {
    fn files(&self) -> ApiResult<Vec<String>> {
        checked_files(self.file_ids.clone())
    }

    fn request(self) -> ApiResult<TurnRequest> {
        Ok(TurnRequest {
            mode: self.mode.unwrap_or_default(),
            tier: self.model.unwrap_or_default(),
            context: checked_context(self.context)?,
            permissions: checked_permissions(self.permissions)?,
        })
    }
}

pub(crate) fn checked_files(files: Option<Vec<String>>) -> ApiResult<Vec<String>> {
    let files = files.unwrap_or_default();
    if files.len() > limits::MESSAGE_FILES {
        return Err(ApiProblem::new(
            ProblemCode::TooManyFiles,
            format!("A message can have at most {} files.", limits::MESSAGE_FILES),
        ));
    }
    if files.iter().any(|id| id.chars().count() > FILE_ID_CHARS) {
        return Err(ApiProblem::invalid("A file id is too long."));
    }
    Ok(files)
}

pub(crate) fn checked_context(
    context: Option<BTreeMap<String, String>>,
) -> ApiResult<Option<Value>> {
    let context = context.unwrap_or_default();
    let too_long = context.values().any(|text| text.chars().count() > limits::MESSAGE_CHARS);
    if context.len() > CONTEXT_ENTRIES || too_long {
        return Err(ApiProblem::invalid(format!(
            "A context can have at most {CONTEXT_ENTRIES} entries of {} characters.",
            limits::MESSAGE_CHARS
        )));
    }
    Ok((!context.is_empty()).then(|| protocol::text::scrub(serde_json::json!(context))))
}

fn checked_permissions(filter: Option<CapabilityFilter>) -> ApiResult<Permissions> {
    let Some(filter) = filter else { return Ok(Permissions::default()) };
    let names = || filter.tools.iter().chain(&filter.blocks);
    let too_many = filter.tools.len().max(filter.blocks.len()) > PERMISSION_NAMES;
    if too_many || names().any(|name| name.is_empty() || name.chars().count() > NAME_CHARS) {
        return Err(ApiProblem::invalid(format!(
            "permissions can name at most {PERMISSION_NAMES} tools and blocks of 1 to {NAME_CHARS} characters."
        )));
    }
    Ok(Permissions::default().narrowed(filter))
}

fn refuse_unknown_fields(body: &Value) -> ApiResult<()> {
    const KNOWN: &[&str] = &[
        "message",
        "is_user_message",
        "message_id",
        "context",
        "file_ids",
        "mode",
        "model",
        "permissions",
    ];
    let Some(object) = body.as_object() else {
        return Err(ApiProblem::invalid("The body must be an object."));
    };
    match object.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        Some(key) => {
            let key = protocol::text::cut_end(key, 40);
            Err(ApiProblem::invalid(format!("Unknown field {key:?}.")))
        }
        None => Ok(()),
    }
}

fn last_user_message(messages: Vec<Value>) -> ApiResult<UiMessage> {
    let last = messages.into_iter().rev().find(|message| message["role"] == "user");
    let last = last
        .ok_or_else(|| ApiProblem::new(ProblemCode::MessageEmpty, "There is no user message."))?;
    serde_json::from_value(last)
        .map_err(|error| ApiProblem::invalid(format!("Invalid user message: {error}")))
}

fn text_of(parts: &[UiPart]) -> ApiResult<String> {
    let mut text = Vec::new();
    for part in parts {
        match (part.kind.as_str(), &part.text) {
            ("text", Some(part)) => text.push(part.as_str()),
            // Data parts are private to the client.
            (kind, _) if kind.starts_with("data-") => {}
            (kind, _) => {
                let kind = protocol::text::cut_end(kind, 40);
                return Err(ApiProblem::new(
                    ProblemCode::UnsupportedPart,
                    format!(
                        "Message parts of type {kind:?} are not supported. Send text, and files as file_ids."
                    ),
                ));
            }
        }
    }
    Ok(text.join("\n"))
}

pub(crate) fn checked_text(text: String) -> ApiResult<String> {
    if text.trim().is_empty() {
        return Err(ApiProblem::new(ProblemCode::MessageEmpty, "The message is empty."));
    }
    if text.chars().count() > limits::MESSAGE_CHARS {
        return Err(ApiProblem::new(
            ProblemCode::MessageTooLong,
            format!("The message is longer than {} characters.", limits::MESSAGE_CHARS),
        ));
    }
    Ok(text)
}

pub(crate) fn checked_id(id: String) -> ApiResult<String> {
    let fits = (1..=limits::MESSAGE_ID_CHARS).contains(&id.chars().count());
    if fits && !id.chars().any(char::is_control) {
        return Ok(id);
    }
    Err(ApiProblem::invalid(format!(
        "A message id must have 1 to {} characters.",
        limits::MESSAGE_ID_CHARS
    )))
}
