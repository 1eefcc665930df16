//! What belongs to a session: questions to the user, to-dos, pages of the documentation, workspace files.

use serde::{Deserialize, Serialize};

#[derive(
    Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema, schemars::JsonSchema,
)]
pub struct UserQuestion {
    /// The question itself.
    pub question: String,
    /// A short key that names the answer.
    pub keyword: String,
    /// An example of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

#[derive(
    Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema, schemars::JsonSchema,
)]
pub struct TodoItem {
    /// What is to be done, as an order: "Fetch the page".
    pub content: String,
    pub status: TodoStatus,
    /// The same while it is being done: "Fetching the page".
    #[serde(default, rename = "activeForm", skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DocHit {
    pub title: String,
    pub path: String,
    pub snippet: String,
    pub score: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WorkspaceFile {
    pub file_id: String,
    pub path: String,
    pub name: String,
    pub mime_type: String,
    pub size_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileEncoding {
    Text,
    Base64,
}
