//! Lists a user's executions, the newest first.

use futures::future::try_join;
use ports::store::ListExecutions;
use protocol::execution::Execution;
use protocol::{GraphId, UserId};

use super::find::execution_columns;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::{TextParam, optional};
use crate::rows::StoreRow;
use crate::rows::executions::execution;
use crate::rules::page;

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

pub(crate) async fn list(
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
    let (limit, offset) = (i64::from(wanted.limit), page::offset(wanted.offset));
    let (page, total) = try_join(
        db.query(PAGE, &[&user, &graph, &statuses, &from, &until, &top_level, &limit, &offset]),
        db.query_one(COUNT, &[&user, &graph, &statuses, &from, &until, &top_level]),
    )
    .await?;
    let page = page.iter().map(execution).collect::<Result<_, _>>()?;
    Ok((page, total.number("total")?))
}
