//! Library entries: added once per graph, updated field by field.

use ports::store::{AgentAdded, AgentChange};
use protocol::library::LibraryAgent;
use protocol::{FolderId, GraphId, LibraryAgentId, UserId, limits};

use super::lock;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::graphs::visibility::{check_visible, is_visible};
use crate::postgres::text_param::{TextParam, optional};
use crate::rows::StoreRow;
use crate::rows::library::agent;
use crate::rules::json::to_json;

/// Columns of a `LibraryAgent`; the table `library_agent` has the alias `l`.
macro_rules! agent_columns {
    () => {
        $crate::rows::library::agent_columns!(
            "(SELECT a.version FROM graph AS a \
              WHERE a.id = l.graph_id AND a.is_active AND a.user_id = l.user_id), \
             (SELECT v.graph_version FROM listing_version AS v WHERE v.graph_id = l.graph_id \
              ORDER BY v.created_at DESC, v.graph_version DESC LIMIT 1)"
        )
    };
}

pub(crate) async fn add(
    store: PostgresStore,
    user: UserId,
    entry: LibraryAgent,
) -> Result<AgentAdded, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    lock(&db, &user).await?;
    let added = add_once(&db, &user, &entry, store.wall_us()).await?;
    db.commit().await?;
    Ok(added)
}

async fn add_once(
    db: &PooledConnection,
    user: &UserId,
    entry: &LibraryAgent,
    wall_us: i64,
) -> Result<AgentAdded, PostgresError> {
    if let Some(before) = by_graph(db, user, &entry.graph_id).await? {
        return Ok(AgentAdded::Exists(Box::new(before)));
    }
    if !check_visible(db, user, &entry.graph_id, entry.graph_version).await? {
        return Ok(AgentAdded::NoGraph);
    }
    if !has_room(db, user).await? {
        return Ok(AgentAdded::TooMany);
    }
    Ok(AgentAdded::New(Box::new(insert(db, user, entry, wall_us).await?)))
}

const BY_ID: &str = concat!(
    "SELECT ",
    agent_columns!(),
    " FROM library_agent AS l WHERE l.user_id = $1 AND l.id = $2"
);
const BY_GRAPH: &str = concat!(
    "SELECT ",
    agent_columns!(),
    " FROM library_agent AS l WHERE l.user_id = $1 AND l.graph_id = $2"
);
const ALL: &str = concat!(
    "SELECT ",
    agent_columns!(),
    " FROM library_agent AS l WHERE l.user_id = $1 ORDER BY l.updated_at DESC, l.number DESC"
);

pub(crate) async fn by_id(
    db: &PooledConnection,
    user: &UserId,
    id: &LibraryAgentId,
) -> Result<Option<LibraryAgent>, PostgresError> {
    one(db, BY_ID, user, id.as_str()).await
}

pub(crate) async fn by_graph(
    db: &PooledConnection,
    user: &UserId,
    graph: &GraphId,
) -> Result<Option<LibraryAgent>, PostgresError> {
    one(db, BY_GRAPH, user, graph.as_str()).await
}

async fn one(
    db: &PooledConnection,
    statement: &str,
    user: &UserId,
    id: &str,
) -> Result<Option<LibraryAgent>, PostgresError> {
    let row = db.query_opt(statement, &[&TextParam(user.as_str()), &TextParam(id)]).await?;
    row.as_ref().map(agent).transpose()
}

pub(crate) async fn all(
    db: &PooledConnection,
    user: &UserId,
) -> Result<Vec<LibraryAgent>, PostgresError> {
    let found = db.query(ALL, &[&TextParam(user.as_str())]).await?;
    found.iter().map(agent).collect()
}

/// Exact for as long as the library is locked.
pub(crate) async fn has_room(db: &PooledConnection, user: &UserId) -> Result<bool, PostgresError> {
    let row = db
        .query_one(
            "SELECT count(*) AS agents FROM library_agent WHERE user_id = $1",
            &[&TextParam(user.as_str())],
        )
        .await?;
    Ok(row.number("agents")? < u64::from(limits::LIBRARY_AGENTS))
}

/// Adds the entry as given, except for its times.
pub(crate) async fn insert(
    db: &PooledConnection,
    user: &UserId,
    entry: &LibraryAgent,
    wall_us: i64,
) -> Result<LibraryAgent, PostgresError> {
    let settings = to_json(&entry.settings)?;
    let row = db
        .query_one(
            concat!(
                "WITH l AS (
                     INSERT INTO library_agent (id, user_id, graph_id, graph_version, name,
                         description, creator, folder_id, is_favorite, is_created_by_user,
                         is_hidden, use_graph_is_active_version, settings, created_at, updated_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)
                     RETURNING *)
                 SELECT ",
                agent_columns!(),
                " FROM l"
            ),
            &[
                &TextParam(entry.id.as_str()),
                &TextParam(user.as_str()),
                &TextParam(entry.graph_id.as_str()),
                &(entry.graph_version as i32),
                &TextParam(&entry.name),
                &TextParam(&entry.description),
                &optional(entry.creator.as_deref()),
                &optional(entry.folder_id.as_ref().map(FolderId::as_str)),
                &entry.is_favorite,
                &entry.is_created_by_user,
                &entry.is_hidden,
                &entry.use_graph_is_active_version,
                &TextParam(&settings),
                &wall_us,
            ],
        )
        .await?;
    agent(&row)
}

/// A version that the user does not see cannot be pinned, because the entry would make it visible.
const UPDATE: &str = concat!(
    "UPDATE library_agent AS l SET name = coalesce($3, l.name),
         description = coalesce($4, l.description), is_favorite = coalesce($5, l.is_favorite),
         is_hidden = coalesce($6, l.is_hidden), graph_version = coalesce($7, l.graph_version),
         use_graph_is_active_version = coalesce($8, l.use_graph_is_active_version),
         settings = coalesce($9, l.settings), updated_at = $10
     WHERE l.user_id = $1 AND l.id = $2
       AND ($7::integer IS NULL OR EXISTS (
           SELECT 1 FROM graph AS g WHERE g.id = l.graph_id AND g.version = $7 AND ",
    is_visible!(),
    ")) RETURNING ",
    agent_columns!()
);

pub(crate) async fn update(
    store: PostgresStore,
    user: UserId,
    id: LibraryAgentId,
    change: AgentChange,
) -> Result<Option<LibraryAgent>, PostgresError> {
    let db = PooledConnection::get(&store.pool).await?;
    let settings = change.settings.as_ref().map(to_json).transpose()?;
    let row = db
        .query_opt(
            UPDATE,
            &[
                &TextParam(user.as_str()),
                &TextParam(id.as_str()),
                &optional(change.name.as_deref()),
                &optional(change.description.as_deref()),
                &change.is_favorite,
                &change.is_hidden,
                &change.graph_version.map(|version| version as i32),
                &change.use_graph_is_active_version,
                &optional(settings.as_deref()),
                &store.wall_us(),
            ],
        )
        .await?;
    row.as_ref().map(agent).transpose()
}
