//! Folders of a user's library.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use ports::store::FolderWritten;
use protocol::library::{Folder, LibraryAgent};
use protocol::problem::ProblemCode;
use protocol::{FolderId, LibraryAgentId, UserId, limits};
use serde::{Deserialize, Serialize};
use utoipa_axum::routes;

use super::folder_tree::{FolderNode, FolderView, counted, nested};
use crate::http::AppState;
use crate::http::extract::{JsonBody, PathId, Query, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;

const NAME_CHARS: usize = 100;
const ICON_CHARS: usize = 50;

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new()
        .routes(routes!(list, create))
        .routes(routes!(move_agents))
        .routes(routes!(move_to))
        .routes(routes!(read, update, delete))
        .routes(routes!(tree))
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct FolderListQuery {
    /// Only folders directly in this one; default: all.
    parent_id: Option<FolderId>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FolderList {
    folders: Vec<FolderView>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct FolderTree {
    tree: Vec<FolderNode>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewFolder {
    /// 1 to 100 characters, unique within the parent folder.
    name: String,
    icon: Option<String>,
    /// `#RRGGBB`
    color: Option<String>,
    parent_id: Option<FolderId>,
}

/// Absent fields stay unchanged.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderChange {
    name: Option<String>,
    icon: Option<String>,
    color: Option<String>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FolderMove {
    /// Null or absent for the root.
    target_parent_id: Option<FolderId>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentsMove {
    agent_ids: Vec<LibraryAgentId>,
    /// Null or absent for the root.
    folder_id: Option<FolderId>,
}

/// List your folders.
#[utoipa::path(get, path = "/library/folders", operation_id = "list_folders", tag = "library", params(FolderListQuery), responses((status = 200, description = "The folders", body = FolderList)))]
async fn list(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    Query(query): Query<FolderListQuery>,
) -> ApiResult<Json<FolderList>> {
    let mut folders = views(&app, &user).await?;
    if query.parent_id.is_some() {
        folders.retain(|view| view.folder.parent_id == query.parent_id);
    }
    Ok(Json(FolderList { folders }))
}

/// Read your folders as a tree.
#[utoipa::path(get, path = "/library/folders/tree", operation_id = "read_folder_tree", tag = "library", responses((status = 200, description = "All folders, nested", body = FolderTree)))]
async fn tree(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
) -> ApiResult<Json<FolderTree>> {
    Ok(Json(FolderTree { tree: nested(views(&app, &user).await?) }))
}

/// Read one of your folders.
#[utoipa::path(
    get, path = "/library/folders/{folder_id}", operation_id = "read_folder", tag = "library",
    params(("folder_id" = String, Path)),
    responses((status = 200, description = "The folder", body = FolderView), NotFound)
)]
async fn read(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<FolderId>,
) -> ApiResult<Json<FolderView>> {
    let mut folders = views(&app, &user).await?.into_iter();
    Ok(Json(folders.find(|view| view.folder.id == id).ok_or_else(no_folder)?))
}

/// Create a folder.
#[utoipa::path(
    post, path = "/library/folders", operation_id = "create_folder", tag = "library",
    request_body = NewFolder,
    responses((status = 201, description = "The folder", body = Folder), (status = 404, description = "The parent folder was not found", body = ProblemBody), (status = 409, description = "The name is taken, or there are too many folders", body = ProblemBody), InvalidField)
)]
async fn create(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(new): JsonBody<NewFolder>,
) -> ApiResult<(StatusCode, Json<Folder>)> {
    let now = app.ports.clock.now();
    let folder = checked(Folder {
        id: FolderId::fresh(),
        name: new.name,
        icon: new.icon,
        color: new.color,
        parent_id: new.parent_id,
        created_at: now,
        updated_at: now,
    })?;
    let folder = written(app.ports.library.add_folder(&user, &folder).await?)?;
    Ok((StatusCode::CREATED, Json(folder)))
}

/// Rename a folder, or change its icon or color.
#[utoipa::path(
    patch, path = "/library/folders/{folder_id}", operation_id = "update_folder", tag = "library",
    params(("folder_id" = String, Path)),
    request_body = FolderChange,
    responses((status = 200, description = "The folder", body = Folder), NotFound, (status = 409, description = "The name is taken", body = ProblemBody), InvalidField)
)]
async fn update(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<FolderId>,
    JsonBody(change): JsonBody<FolderChange>,
) -> ApiResult<Json<Folder>> {
    let folder = find(&app, &user, &id).await?;
    let folder = checked(Folder {
        name: change.name.unwrap_or(folder.name),
        icon: change.icon.or(folder.icon),
        color: change.color.or(folder.color),
        ..folder
    })?;
    Ok(Json(written(app.ports.library.update_folder(&user, &folder).await?)?))
}

/// Move a folder into another one, or to the root.
#[utoipa::path(
    post, path = "/library/folders/{folder_id}/move", operation_id = "move_folder", tag = "library",
    params(("folder_id" = String, Path)),
    request_body = FolderMove,
    responses((status = 200, description = "The folder", body = Folder), NotFound, (status = 409, description = "The folder would contain itself, or the name is taken in the new parent", body = ProblemBody))
)]
async fn move_to(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<FolderId>,
    JsonBody(body): JsonBody<FolderMove>,
) -> ApiResult<Json<Folder>> {
    let folder = find(&app, &user, &id).await?;
    let folder = Folder { parent_id: body.target_parent_id, ..folder };
    Ok(Json(written(app.ports.library.update_folder(&user, &folder).await?)?))
}

/// Delete a folder and the folders in it. Their agents move to the root.
#[utoipa::path(
    delete, path = "/library/folders/{folder_id}", operation_id = "delete_folder", tag = "library",
    params(("folder_id" = String, Path)),
    responses((status = 204, description = "Deleted"), NotFound)
)]
async fn delete(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    PathId(id): PathId<FolderId>,
) -> ApiResult<StatusCode> {
    match app.ports.library.remove_folder(&user, &id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_folder()),
    }
}

/// Move agents into a folder, or to the root. Returns the moved agents.
#[utoipa::path(
    post, path = "/library/folders/agents/bulk-move", operation_id = "move_agents", tag = "library",
    request_body = AgentsMove,
    responses((status = 200, description = "The moved agents", body = Vec<LibraryAgent>), (status = 404, description = "The folder or an agent was not found, or is not owned by the caller", body = ProblemBody), InvalidField)
)]
async fn move_agents(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    JsonBody(body): JsonBody<AgentsMove>,
) -> ApiResult<Json<Vec<LibraryAgent>>> {
    if body.agent_ids.len() > limits::LIBRARY_AGENTS as usize {
        return Err(ApiProblem::invalid(format!(
            "At most {} agents can be moved at once.",
            limits::LIBRARY_AGENTS
        )));
    }
    let library = &app.ports.library;
    let moved = library.move_agents(&user, &body.agent_ids, body.folder_id.as_ref()).await?;
    moved.ok_or_else(no_folder)?;
    let mut agents = library.list(&user).await?;
    agents.retain(|agent| body.agent_ids.contains(&agent.id));
    Ok(Json(agents))
}

async fn views(app: &AppState, user: &UserId) -> ApiResult<Vec<FolderView>> {
    let folders = app.ports.library.folders(user).await?;
    Ok(counted(folders, &app.ports.library.list(user).await?))
}

async fn find(app: &AppState, user: &UserId, id: &FolderId) -> ApiResult<Folder> {
    let mut folders = app.ports.library.folders(user).await?.into_iter();
    folders.find(|folder| folder.id == *id).ok_or_else(no_folder)
}

fn checked(mut folder: Folder) -> ApiResult<Folder> {
    folder.name = folder.name.trim().to_owned();
    if !(1..=NAME_CHARS).contains(&folder.name.chars().count()) {
        return Err(ApiProblem::invalid(format!(
            "The name must have 1 to {NAME_CHARS} characters."
        )));
    }
    if folder.icon.as_ref().is_some_and(|icon| icon.chars().count() > ICON_CHARS) {
        return Err(ApiProblem::invalid(format!(
            "The icon must have at most {ICON_CHARS} characters."
        )));
    }
    if folder.color.as_ref().is_some_and(|color| !is_color(color)) {
        return Err(ApiProblem::invalid("The color must have the form #1a2b3c."));
    }
    Ok(folder)
}

fn is_color(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn written(written: FolderWritten) -> ApiResult<Folder> {
    match written {
        FolderWritten::Done(folder) => Ok(*folder),
        FolderWritten::Missing | FolderWritten::NoParent => Err(no_folder()),
        FolderWritten::Circular => Err(ApiProblem::new(
            ProblemCode::FolderInsideItself,
            "A folder cannot be moved into itself.",
        )),
        FolderWritten::NameTaken => Err(ApiProblem::new(
            ProblemCode::FolderNameTaken,
            "A folder with this name already exists here.",
        )),
        FolderWritten::TooMany => Err(ApiProblem::new(
            ProblemCode::TooManyFolders,
            format!("A library can have at most {} folders.", limits::LIBRARY_FOLDERS),
        )),
    }
}

fn no_folder() -> ApiProblem {
    ApiProblem::new(ProblemCode::FolderNotFound, "Folder not found.")
}
