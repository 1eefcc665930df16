//! Sessions and their owners.

use async_trait::async_trait;
use futures::future::try_join;
use ports::PortResult;
use ports::store::{ListSessions, NewSession, SessionAssigned, SessionPage, Sessions, TitleChange};
use protocol::session::{Owner, Session};
use protocol::{SessionId, UserId};

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::{TextParam, optional};
use super::turns::advisory_locks;
use super::{PostgresStore, session_delete};
use crate::rows::StoreRow;
use crate::rows::sessions::{session, session_columns};
use crate::rules::title_search::expressions;

#[async_trait]
impl Sessions for PostgresStore {
    async fn create(&self, owner: &Owner, new: NewSession) -> PortResult<Session> {
        let (pool, owner, now) = (self.pool.clone(), owner.clone(), self.wall_us());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let id = new.id.unwrap_or_else(SessionId::fresh);
            let metadata = serde_json::Value::Object(new.metadata).to_string();
            let parent = new.parent_session_id.as_ref().map(SessionId::as_str);
            let made = db
                .query_opt(
                    concat!(
                        "WITH s AS (
                             INSERT INTO session (id, user_id, dry_run, metadata, parent_session_id,
                                 depth, created_at, updated_at)
                             VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
                             ON CONFLICT (id) DO NOTHING RETURNING *)
                         SELECT ",
                        session_columns!(),
                        " FROM s"
                    ),
                    &[
                        &TextParam(id.as_str()),
                        &user(&owner),
                        &new.dry_run,
                        &TextParam(&metadata),
                        &optional(parent),
                        &(new.depth as i32),
                        &now,
                    ],
                )
                .await?;
            match made {
                Some(row) => session(&row),
                // The caller chose the id, and it exists.
                None => find(&db, &owner, &id).await?.ok_or_else(|| {
                    PostgresError::broken("the id belongs to another user's session")
                }),
            }
        })
        .await
    }

    async fn get(&self, owner: &Owner, id: &SessionId) -> PortResult<Option<Session>> {
        self.read(|db| async move { find(&db, owner, id).await }).await
    }

    async fn list(&self, owner: &Owner, wanted: ListSessions) -> PortResult<SessionPage> {
        let Some(user) = owner.user() else {
            return Ok(SessionPage { sessions: Vec::new(), total: 0 });
        };
        let wanted = &wanted;
        self.read(|db| async move { list(&db, user, wanted).await }).await
    }

    async fn set_title(
        &self,
        owner: &Owner,
        id: &SessionId,
        title: TitleChange,
    ) -> PortResult<bool> {
        let (pool, owner, id) = (self.pool.clone(), owner.clone(), id.clone());
        self.write(async move {
            let (text, only_first) = match &title {
                TitleChange::ByUser(text) => (text, false),
                TitleChange::Generated(text) => (text, true),
            };
            let db = PooledConnection::get(&pool).await?;
            let changed = db
                .query_opt(
                    "UPDATE session SET title = $3
                     WHERE id = $1 AND (user_id IS NULL OR user_id = $2)
                       AND (title IS NULL OR NOT $4) RETURNING id",
                    &[&TextParam(id.as_str()), &user(&owner), &TextParam(text), &only_first],
                )
                .await?;
            Ok(changed.is_some())
        })
        .await
    }

    async fn set_pinned(&self, owner: &Owner, id: &SessionId, pinned: bool) -> PortResult<bool> {
        let (pool, owner, id) = (self.pool.clone(), owner.clone(), id.clone());
        self.write(async move {
            let db = PooledConnection::get(&pool).await?;
            let changed = db
                .query_opt(
                    "UPDATE session SET is_pinned = $3
                     WHERE id = $1 AND (user_id IS NULL OR user_id = $2) RETURNING id",
                    &[&TextParam(id.as_str()), &user(&owner), &pinned],
                )
                .await?;
            Ok(changed.is_some())
        })
        .await
    }

    async fn assign(&self, to: &UserId, id: &SessionId) -> PortResult<SessionAssigned> {
        let (pool, to, id) = (self.pool.clone(), to.clone(), id.clone());
        self.write(async move {
            let db = PooledConnection::begin(&pool).await?;
            // Under the lock of the session's own quota key: its holder can rely on the session having no user.
            advisory_locks::lock(&db, &advisory_locks::session_key(&id)).await?;
            let changed = db
                .query_opt(
                    "UPDATE session SET user_id = $2 WHERE id = $1 AND user_id IS NULL RETURNING id",
                    &[&TextParam(id.as_str()), &TextParam(to.as_str())],
                )
                .await?;
            let mine = db
                .query_opt(
                    "SELECT id FROM session WHERE id = $1 AND user_id = $2",
                    &[&TextParam(id.as_str()), &TextParam(to.as_str())],
                )
                .await?;
            db.commit().await?;
            Ok(match (changed, mine) {
                (Some(_), _) => SessionAssigned::Done,
                (None, Some(_)) => SessionAssigned::Already,
                (None, None) => SessionAssigned::NotFound,
            })
        })
        .await
    }

    async fn delete(&self, owner: &Owner, id: &SessionId) -> PortResult<bool> {
        session_delete::delete(self, owner, id).await
    }
}

/// The value to compare with `user_id`: an anonymous owner is NULL.
pub(crate) fn user(owner: &Owner) -> Option<TextParam<'_>> {
    optional(owner.user().map(UserId::as_str))
}

/// The session, if this owner may see it: their own, or one without a user.
pub(crate) async fn find(
    db: &PooledConnection,
    owner: &Owner,
    id: &SessionId,
) -> Result<Option<Session>, PostgresError> {
    let row = db
        .query_opt(
            concat!(
                "SELECT ",
                session_columns!(),
                " FROM session AS s WHERE s.id = $1 AND (s.user_id IS NULL OR s.user_id = $2)"
            ),
            &[&TextParam(id.as_str()), &user(owner)],
        )
        .await?;
    row.as_ref().map(session).transpose()
}

/// The sessions of a user whose titles contain every word of a search.
macro_rules! found {
    () => {
        "s.user_id = $1 AND (cardinality($2::text[]) = 0 OR coalesce(s.title, '') ~ ALL ($2))"
    };
}

async fn list(
    db: &PooledConnection,
    user: &UserId,
    wanted: &ListSessions,
) -> Result<SessionPage, PostgresError> {
    let (user, words) = (TextParam(user.as_str()), expressions(&wanted.words));
    let (limit, offset) = (i64::from(wanted.limit), i64::from(wanted.offset));
    let (total, found) = try_join(
        db.query_one(
            concat!("SELECT count(*) AS total FROM session AS s WHERE ", found!()),
            &[&user, &words],
        ),
        db.query(
            concat!(
                "SELECT ",
                session_columns!(),
                " FROM session AS s WHERE ",
                found!(),
                " ORDER BY (s.is_pinned AND $5) DESC, s.updated_at DESC, s.created DESC
                 LIMIT $3 OFFSET $4"
            ),
            &[&user, &words, &limit, &offset, &wanted.pinned_first],
        ),
    )
    .await?;
    let sessions = found.iter().map(session).collect::<Result<_, _>>()?;
    Ok(SessionPage { sessions, total: total.number("total")? })
}
