//! Converts rows of reviews to protocol types.

use protocol::review::Review;
use tokio_postgres::Row;

use super::super::error::PostgresError;
use super::super::rows;
use crate::words;

/// Columns of a `Review`; the table `review` has the alias `r`.
macro_rules! review_columns {
    () => {
        "r.id, r.user_id, r.execution_id, r.graph_id, r.graph_version, r.node_id, r.payload, \
         r.instructions, r.editable, r.status, r.review_message, r.was_edited, r.created_at, \
         r.reviewed_at"
    };
}

pub(super) use review_columns;

pub(super) fn review(row: &Row) -> Result<Review, PostgresError> {
    Ok(Review {
        id: rows::id(row, "id")?,
        user_id: rows::id(row, "user_id")?,
        execution_id: rows::id(row, "execution_id")?,
        graph_id: rows::id(row, "graph_id")?,
        graph_version: rows::small(row, "graph_version")?,
        node_id: rows::id(row, "node_id")?,
        payload: rows::json(row, "payload")?,
        instructions: rows::get(row, "instructions")?,
        editable: rows::get(row, "editable")?,
        status: rows::word(row, "status", words::review_status)?,
        review_message: rows::get(row, "review_message")?,
        was_edited: rows::get(row, "was_edited")?,
        created_at: rows::time(row, "created_at")?,
        reviewed_at: rows::optional_time(row, "reviewed_at")?,
    })
}
