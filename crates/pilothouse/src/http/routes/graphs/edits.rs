//! Edits of a stored agent, and earlier versions of it that are stored again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{AgentEdited, EditsUndo, GraphChanged, SavePolicy};
use protocol::GraphId;
use protocol::graph_diff::AgentDiff;
use protocol::graph_edit::GraphEdit;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::body::GraphDetails;
use super::{
    InvalidGraphBody, answer_saved, details, invalid_graph, no_graph, stale_version, version_number,
};
use crate::http::AppState;
use crate::http::extract::{JsonBody, PathId, PathIds, SignedInUser};
use crate::http::problem::ApiResult;
use crate::http::responses::{InvalidField, NotFound, StaleVersion};

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditsBody {
    /// The version that is edited. It must be the newest one.
    base_version: u32,
    /// Applied all or none.
    edits: Vec<GraphEdit>,
    /// Also save an agent that cannot run yet.
    #[serde(default)]
    draft: bool,
    /// Why, for the client's own records; ignored.
    #[serde(default, rename = "note")]
    _note: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct EditedBody {
    graph: GraphDetails,
    diff: AgentDiff,
    /// Edits of the new version that restore the old one. Empty if that takes more edits than one request may have.
    undo: Vec<GraphEdit>,
    /// The version to restore instead, if `undo` is too long for a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    restore_version: Option<u32>,
}

/// Edit an agent. All edits are applied to the base version and saved as a new version, or none.
#[utoipa::path(
    post, path = "/graphs/{graph_id}/edits", operation_id = "edit_graph", tag = "graphs",
    params(("graph_id" = String, Path)),
    request_body = EditsBody,
    responses(
        (status = 200, description = "The new version, and what changed", body = EditedBody),
        (status = 400, description = "An edit cannot be applied, or the agent could not run", body = InvalidGraphBody), NotFound, StaleVersion, InvalidField,
    )
)]
pub(crate) async fn edit(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<GraphId>,
    JsonBody(body): JsonBody<EditsBody>,
) -> ApiResult<Json<EditedBody>> {
    let policy = if body.draft { SavePolicy::AllowDraft } else { SavePolicy::Valid };
    match app.engine.edit_agent(&user, &id, body.base_version, body.edits, policy).await? {
        AgentEdited::Saved { graph, diff, undo } => {
            let graph = details(&app, &user, &id, Some(graph.version)).await?;
            let (undo, restore_version) = match undo {
                EditsUndo::ByEdits(undo) => (undo, None),
                EditsUndo::ByRestoring(version) => (Vec::new(), Some(version)),
            };
            Ok(Json(EditedBody { graph, diff: *diff, undo, restore_version }))
        }
        AgentEdited::Refused(problems) => Err(invalid_graph(&problems)),
        AgentEdited::Stale { newest, diff } => Err(stale_version(newest).with("diff", json!(diff))),
        AgentEdited::Missing => Err(no_graph()),
    }
}

/// Save an earlier version again, as a new version.
#[utoipa::path(
    post, path = "/graphs/{graph_id}/versions/{version}/restore", operation_id = "restore_graph_version", tag = "graphs",
    params(("graph_id" = String, Path), ("version" = u32, Path)),
    responses((status = 200, description = "The new version", body = GraphDetails), NotFound)
)]
pub(crate) async fn restore(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathIds(id, version): PathIds<GraphId, String>,
) -> ApiResult<Json<GraphDetails>> {
    match app.engine.restore_version(&user, &id, version_number(&version)?).await? {
        GraphChanged::Changed(stored) => answer_saved(&app, &user, &stored.graph).await,
        GraphChanged::Missing => Err(no_graph()),
        GraphChanged::Invalid(problems) => Err(invalid_graph(&problems)),
        GraphChanged::Stale { newest } => Err(stale_version(newest)),
    }
}
