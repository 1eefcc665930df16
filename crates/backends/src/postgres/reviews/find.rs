//! Finds reviews.

use futures::future::try_join;
use protocol::review::Review;
use protocol::{ExecutionId, ReviewId, UserId};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::reviews::{review, review_columns};
use crate::rules::page;

const BY_ID: &str =
    concat!("SELECT ", review_columns!(), " FROM review AS r WHERE r.user_id = $1 AND r.id = $2");
const PENDING: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM review AS r WHERE r.user_id = $1 AND r.status = 'WAITING'
     ORDER BY r.number LIMIT $2 OFFSET $3"
);
const OF_EXECUTION: &str = concat!(
    "SELECT ",
    review_columns!(),
    " FROM review AS r WHERE r.execution_id = $1 AND r.user_id = $2 ORDER BY r.number"
);
pub(crate) async fn by_id(
    db: &PooledConnection,
    user: &UserId,
    id: &ReviewId,
) -> Result<Option<Review>, PostgresError> {
    let row = db.query_opt(BY_ID, &[&TextParam(user.as_str()), &TextParam(id.as_str())]).await?;
    row.as_ref().map(review).transpose()
}

pub(crate) async fn pending(
    db: &PooledConnection,
    user: &UserId,
    limit: u32,
    offset: u64,
) -> Result<(Vec<Review>, u64), PostgresError> {
    let user = TextParam(user.as_str());
    let (page, total) = try_join(
        db.query(PENDING, &[&user, &i64::from(limit), &page::offset(offset)]),
        db.query_one(
            "SELECT count(*) AS total FROM review WHERE user_id = $1 AND status = 'WAITING'",
            &[&user],
        ),
    )
    .await?;
    let page = page.iter().map(review).collect::<Result<_, _>>()?;
    Ok((page, total.number("total")?))
}

pub(crate) async fn of_execution(
    db: &PooledConnection,
    user: &UserId,
    execution: &ExecutionId,
) -> Result<Vec<Review>, PostgresError> {
    let ids = (TextParam(execution.as_str()), TextParam(user.as_str()));
    let found = db.query(OF_EXECUTION, &[&ids.0, &ids.1]).await?;
    found.iter().map(review).collect()
}
