//! Lists a user's executions, the newest first.

use futures::future::try_join;
use ports::store::ListExecutions;
use protocol::execution::Execution;
use protocol::{GraphId, UserId};

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::rows;
use super::super::text_param::{TextParam, optional};
use super::row::{execution, execution_columns};

macro_rules! wanted {
    () => {
        " FROM execution AS e
         WHERE e.user_id = $1 AND ($2::text IS NULL OR e.graph_id = $2)
           AND (cardinality($3::text[]) = 0 OR e.status = ANY($3))
           AND ($4::bigint IS NULL OR e.created_at >= $4)
           AND ($5::bigint IS NULL OR e.created_at < $5)
           AND (NOT $6 OR e.parent_id IS NULL) "
    };
}

const COUNT: &str = concat!("SELECT count(*) AS total", wanted!());
const PAGE: &str = concat!(
    "SELECT ",
    execution_columns!(),
    wanted!(),
    "ORDER BY e.created_at DESC, e.number DESC LIMIT $7 OFFSET $8"
);

pub(super) async fn list(
    db: &PooledConnection,
    user: &UserId,
    wanted: &ListExecutions,
) -> Result<(Vec<Execution>, u64), PostgresError> {
    let user = TextParam(user.as_str());
    let graph = optional(wanted.graph.as_ref().map(GraphId::as_str));
    let statuses: Vec<&str> = wanted.statuses.iter().map(|status| status.as_str()).collect();
    let from = wanted.from.map(|time| time.as_microsecond());
    let until = wanted.until.map(|time| time.as_microsecond());
    let top_level = wanted.top_level;
    let (limit, offset) = (i64::from(wanted.limit), wanted.offset as i64);
    let (page, total) = try_join(
        db.query(PAGE, &[&user, &graph, &statuses, &from, &until, &top_level, &limit, &offset]),
        db.query_one(COUNT, &[&user, &graph, &statuses, &from, &until, &top_level]),
    )
    .await?;
    let page = page.iter().map(execution).collect::<Result<_, _>>()?;
    Ok((page, rows::number(&total, "total")?))
}
