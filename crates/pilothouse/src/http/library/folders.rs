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

use super::super::App;
use super::super::auth::Person;
use super::super::json::{Body, Query};
use super::super::path::Id;
use super::super::problem::{Answer, Problem, ProblemBody};
use super::folder_tree::{FolderNode, FolderView, counted, planted};

const NAME_CHARS: usize = 100;
const ICON_CHARS: usize = 50;

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct ListQuery {
    /// Only those directly in this folder; all of them when not given.
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
    /// 1 to 100 characters, and another one than its neighbours have.
    name: String,
    icon: Option<String>,
    /// `#RRGGBB`
    color: Option<String>,
    parent_id: Option<FolderId>,
}

/// What is absent stays as it is.
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
    /// The root when it is null or absent.
    target_parent_id: Option<FolderId>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentsMove {
    agent_ids: Vec<LibraryAgentId>,
    /// The root when it is null or absent.
    folder_id: Option<FolderId>,
}

/// Your folders.
#[utoipa::path(get, path = "/library/folders", operation_id = "list_folders", tag = "library", params(ListQuery), responses((status = 200, description = "Done", body = FolderList)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Query(query): Query<ListQuery>,
) -> Answer<Json<FolderList>> {
    let mut folders = views(&app, &user).await?;
    if query.parent_id.is_some() {
        folders.retain(|view| view.folder.parent_id == query.parent_id);
    }
    Ok(Json(FolderList { folders }))
}

/// Your folders, each with those in it.
#[utoipa::path(get, path = "/library/folders/tree", operation_id = "read_folder_tree", tag = "library", responses((status = 200, description = "Done", body = FolderTree)))]
pub(crate) async fn tree(
    State(app): State<Arc<App>>,
    Person(user): Person,
) -> Answer<Json<FolderTree>> {
    Ok(Json(FolderTree { tree: planted(views(&app, &user).await?) }))
}

/// One of your folders.
#[utoipa::path(
    get, path = "/library/folders/{folder_id}", operation_id = "read_folder", tag = "library",
    params(("folder_id" = String, Path)),
    responses((status = 200, description = "Done", body = FolderView), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn read(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<FolderId>,
) -> Answer<Json<FolderView>> {
    let mut folders = views(&app, &user).await?.into_iter();
    Ok(Json(folders.find(|view| view.folder.id == id).ok_or_else(no_folder)?))
}

/// Make a folder.
#[utoipa::path(
    post, path = "/library/folders", operation_id = "create_folder", tag = "library",
    request_body = NewFolder,
    responses((status = 201, description = "Done", body = Folder), (status = 404, description = "There is no such folder to put it in", body = ProblemBody), (status = 409, description = "The name is taken, or there are too many", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Body(new): Body<NewFolder>,
) -> Answer<(StatusCode, Json<Folder>)> {
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

/// Rename a folder, or change how it looks.
#[utoipa::path(
    patch, path = "/library/folders/{folder_id}", operation_id = "update_folder", tag = "library",
    params(("folder_id" = String, Path)),
    request_body = FolderChange,
    responses((status = 200, description = "Done", body = Folder), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 409, description = "The name is taken", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn update(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<FolderId>,
    Body(change): Body<FolderChange>,
) -> Answer<Json<Folder>> {
    let folder = find(&app, &user, &id).await?;
    let folder = checked(Folder {
        name: change.name.unwrap_or(folder.name),
        icon: change.icon.or(folder.icon),
        color: change.color.or(folder.color),
        ..folder
    })?;
    Ok(Json(written(app.ports.library.update_folder(&user, &folder).await?)?))
}

/// Put a folder into another one, or at the root.
#[utoipa::path(
    post, path = "/library/folders/{folder_id}/move", operation_id = "move_folder", tag = "library",
    params(("folder_id" = String, Path)),
    request_body = FolderMove,
    responses((status = 200, description = "Done", body = Folder), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 409, description = "It would be inside itself, or the name is taken there", body = ProblemBody))
)]
pub(crate) async fn move_to(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<FolderId>,
    Body(body): Body<FolderMove>,
) -> Answer<Json<Folder>> {
    let folder = find(&app, &user, &id).await?;
    let folder = Folder { parent_id: body.target_parent_id, ..folder };
    Ok(Json(written(app.ports.library.update_folder(&user, &folder).await?)?))
}

/// Delete a folder and those in it. Their agents go to the root.
#[utoipa::path(
    delete, path = "/library/folders/{folder_id}", operation_id = "delete_folder", tag = "library",
    params(("folder_id" = String, Path)),
    responses((status = 204, description = "Done"), (status = 404, description = "There is no such thing of yours", body = ProblemBody))
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Id(id): Id<FolderId>,
) -> Answer<StatusCode> {
    match app.ports.library.remove_folder(&user, &id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(no_folder()),
    }
}

/// Put agents of yours into a folder, or at the root. The answer are those that were moved.
#[utoipa::path(
    post, path = "/library/folders/agents/bulk-move", operation_id = "move_agents", tag = "library",
    request_body = AgentsMove,
    responses((status = 200, description = "Done", body = Vec<LibraryAgent>), (status = 404, description = "There is no such folder of yours", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn move_agents(
    State(app): State<Arc<App>>,
    Person(user): Person,
    Body(body): Body<AgentsMove>,
) -> Answer<Json<Vec<LibraryAgent>>> {
    if body.agent_ids.len() > limits::LIBRARY_AGENTS as usize {
        return Err(Problem::invalid(format!(
            "At most {} agents can be moved together.",
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

async fn views(app: &App, user: &UserId) -> Answer<Vec<FolderView>> {
    let folders = app.ports.library.folders(user).await?;
    Ok(counted(folders, &app.ports.library.list(user).await?))
}

async fn find(app: &App, user: &UserId, id: &FolderId) -> Answer<Folder> {
    let mut folders = app.ports.library.folders(user).await?.into_iter();
    folders.find(|folder| folder.id == *id).ok_or_else(no_folder)
}

fn checked(mut folder: Folder) -> Answer<Folder> {
    folder.name = folder.name.trim().to_owned();
    if !(1..=NAME_CHARS).contains(&folder.name.chars().count()) {
        return Err(Problem::invalid(format!("A name has 1 to {NAME_CHARS} characters.")));
    }
    if folder.icon.as_ref().is_some_and(|icon| icon.chars().count() > ICON_CHARS) {
        return Err(Problem::invalid(format!("An icon has at most {ICON_CHARS} characters.")));
    }
    if folder.color.as_ref().is_some_and(|color| !is_color(color)) {
        return Err(Problem::invalid("A color looks like #1a2b3c."));
    }
    Ok(folder)
}

fn is_color(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|hex| hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn written(written: FolderWritten) -> Answer<Folder> {
    match written {
        FolderWritten::Done(folder) => Ok(*folder),
        FolderWritten::Missing | FolderWritten::NoParent => Err(no_folder()),
        FolderWritten::Circular => Err(Problem::new(
            ProblemCode::FolderInsideItself,
            "A folder cannot be put into itself.",
        )),
        FolderWritten::NameTaken => Err(Problem::new(
            ProblemCode::FolderNameTaken,
            "There is a folder of this name in the same place.",
        )),
        FolderWritten::TooMany => Err(Problem::new(
            ProblemCode::TooManyFolders,
            format!("A library has at most {} folders.", limits::LIBRARY_FOLDERS),
        )),
    }
}

fn no_folder() -> Problem {
    Problem::new(ProblemCode::FolderNotFound, "There is no such folder.")
}
