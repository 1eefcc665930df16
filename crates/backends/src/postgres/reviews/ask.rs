//! Asks for reviews.

use futures::future::try_join_all;
use protocol::review::Review;

use super::find::{by_id, of_execution};
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::{TextParam, optional};
use crate::postgres::turns::advisory_locks;
use crate::rules::json::to_json;

/// Keeps an existing review with the same id.
const INSERT: &str = "\
    INSERT INTO review (user_id, id, execution_id, graph_id, graph_version, node_id, payload,
        instructions, editable, status, review_message, was_edited, created_at, reviewed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    ON CONFLICT (user_id, id) DO NOTHING";

/// Takes a lock per execution or session, so that two equal requests at the same time create one review.
pub(crate) async fn ask(db: &PooledConnection, new: &Review) -> Result<Review, PostgresError> {
    let subject = &new.execution_id;
    advisory_locks::lock(db, &format!("reviews:{subject}")).await?;
    for before in of_execution(db, &new.user_id, subject).await? {
        let same = before.node_id == new.node_id && before.payload == new.payload;
        if same && before.decision().is_none() {
            return Ok(before);
        }
    }
    insert(db, new).await?;
    let stored = by_id(db, &new.user_id, &new.id).await?;
    stored.ok_or_else(|| PostgresError::broken("a new review cannot be found"))
}

/// Inserts in order, so that the oldest comes first when they are read.
pub(crate) async fn insert_all(
    db: &PooledConnection,
    reviews: &[Review],
) -> Result<(), PostgresError> {
    if !reviews.is_empty() {
        db.prepare(&[INSERT]).await?;
        try_join_all(reviews.iter().map(|review| insert(db, review))).await?;
    }
    Ok(())
}

async fn insert(db: &PooledConnection, review: &Review) -> Result<(), PostgresError> {
    let payload = to_json(&review.payload)?;
    db.query(
        INSERT,
        &[
            &TextParam(review.user_id.as_str()),
            &TextParam(review.id.as_str()),
            &TextParam(review.execution_id.as_str()),
            &TextParam(review.graph_id.as_str()),
            &(review.graph_version as i32),
            &TextParam(review.node_id.as_str()),
            &TextParam(&payload),
            &TextParam(&review.instructions),
            &review.editable,
            &review.status.as_str(),
            &optional(review.review_message.as_deref()),
            &review.was_edited,
            &review.created_at.as_microsecond(),
            &review.reviewed_at.map(|time| time.as_microsecond()),
        ],
    )
    .await?;
    Ok(())
}
