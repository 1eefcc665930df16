//! Rows of reviews.

use protocol::review::Review;

use super::StoreRow;

/// Columns of a `Review`; the table `review` has the alias `r`.
macro_rules! review_columns {
    () => {
        "r.id, r.user_id, r.execution_id, r.graph_id, r.graph_version, r.node_id, r.payload, \
         r.instructions, r.editable, r.status, r.review_message, r.was_edited, r.created_at, \
         r.reviewed_at"
    };
}

pub(crate) use review_columns;

pub(crate) fn review<R: StoreRow>(row: &R) -> Result<Review, R::Error> {
    Ok(Review {
        id: row.id("id")?,
        user_id: row.id("user_id")?,
        execution_id: row.id("execution_id")?,
        graph_id: row.id("graph_id")?,
        graph_version: row.small("graph_version")?,
        node_id: row.id("node_id")?,
        payload: row.json("payload")?,
        instructions: row.text("instructions")?,
        editable: row.flag("editable")?,
        status: row.word("status")?,
        review_message: row.optional_text("review_message")?,
        was_edited: row.flag("was_edited")?,
        created_at: row.time("created_at")?,
        reviewed_at: row.optional_time("reviewed_at")?,
    })
}
