//! Library folders. There are few of them, so every change reads all of them, under the lock of the library.

use futures::future::try_join;
use ports::store::FolderWritten;
use protocol::library::Folder;
use protocol::{FolderId, LibraryAgentId, UserId};

use super::lock;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::{TextParam, optional};
use crate::rows::library::{folder, folder_columns};
use crate::rules::folder_tree;

pub(crate) async fn all(
    db: &PooledConnection,
    user: &UserId,
) -> Result<Vec<Folder>, PostgresError> {
    let found = db
        .query(
            concat!(
                "SELECT ",
                folder_columns!(),
                " FROM library_folder AS f WHERE f.user_id = $1 ORDER BY f.number"
            ),
            &[&TextParam(user.as_str())],
        )
        .await?;
    found.iter().map(folder).collect()
}

pub(crate) async fn add(
    store: PostgresStore,
    user: UserId,
    new: Folder,
) -> Result<FolderWritten, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    lock(&db, &user).await?;
    let folders = all(&db, &user).await?;
    let written = match folder_tree::refusal_of_new(&folders, &new) {
        Some(refused) => refused,
        None => {
            FolderWritten::Done(Box::new(write(&db, INSERT, &user, &new, store.wall_us()).await?))
        }
    };
    db.commit().await?;
    Ok(written)
}

pub(crate) async fn update(
    store: PostgresStore,
    user: UserId,
    changed: Folder,
) -> Result<FolderWritten, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    lock(&db, &user).await?;
    let folders = all(&db, &user).await?;
    let written = match folder_tree::refusal_of_change(&folders, &changed) {
        Some(refused) => refused,
        None => FolderWritten::Done(Box::new(
            write(&db, UPDATE, &user, &changed, store.wall_us()).await?,
        )),
    };
    db.commit().await?;
    Ok(written)
}

const INSERT: &str = concat!(
    "INSERT INTO library_folder AS f
         (user_id, id, name, icon, color, parent_id, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING ",
    folder_columns!()
);
const UPDATE: &str = concat!(
    "UPDATE library_folder AS f
     SET name = $3, icon = $4, color = $5, parent_id = $6, updated_at = $7
     WHERE f.user_id = $1 AND f.id = $2 RETURNING ",
    folder_columns!()
);

async fn write(
    db: &PooledConnection,
    statement: &str,
    user: &UserId,
    given: &Folder,
    wall_us: i64,
) -> Result<Folder, PostgresError> {
    let row = db
        .query_one(
            statement,
            &[
                &TextParam(user.as_str()),
                &TextParam(given.id.as_str()),
                &TextParam(&given.name),
                &optional(given.icon.as_deref()),
                &optional(given.color.as_deref()),
                &optional(given.parent_id.as_ref().map(FolderId::as_str)),
                &wall_us,
            ],
        )
        .await?;
    folder(&row)
}

pub(crate) async fn remove(
    store: PostgresStore,
    user: UserId,
    id: FolderId,
) -> Result<bool, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    lock(&db, &user).await?;
    let folders = all(&db, &user).await?;
    let gone: Vec<TextParam<'_>> = folder_tree::with_all_inside(&folders, &id)
        .into_iter()
        .map(|id| TextParam(id.as_str()))
        .collect();
    let user = TextParam(user.as_str());
    try_join(
        db.query(
            "UPDATE library_agent SET folder_id = NULL WHERE user_id = $1 AND folder_id = ANY($2)",
            &[&user, &gone],
        ),
        db.query("DELETE FROM library_folder WHERE user_id = $1 AND id = ANY($2)", &[&user, &gone]),
    )
    .await?;
    db.commit().await?;
    Ok(!gone.is_empty())
}

pub(crate) async fn move_agents(
    store: PostgresStore,
    user: UserId,
    agents: Vec<LibraryAgentId>,
    folder: Option<FolderId>,
) -> Result<Option<u32>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    lock(&db, &user).await?;
    let folders = all(&db, &user).await?;
    let is_there = |id: &FolderId| folders.iter().any(|folder| folder.id == *id);
    if !folder.as_ref().is_none_or(is_there) {
        db.commit().await?;
        return Ok(None);
    }
    let agents: Vec<TextParam<'_>> = agents.iter().map(|agent| TextParam(agent.as_str())).collect();
    let moved = db
        .query(
            "UPDATE library_agent SET folder_id = $3, updated_at = $4
             WHERE user_id = $1 AND id = ANY($2) RETURNING id",
            &[
                &TextParam(user.as_str()),
                &agents,
                &optional(folder.as_ref().map(FolderId::as_str)),
                &store.wall_us(),
            ],
        )
        .await?;
    db.commit().await?;
    Ok(Some(moved.len() as u32))
}
