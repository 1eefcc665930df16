//! Rows of executions.

use protocol::execution::Execution;

use super::StoreRow;

/// Columns of an `Execution`; the table `execution` has the alias `e`, and the argument is the column of its request.
macro_rules! execution_columns {
    ($request:literal) => {
        concat!(
            "e.id, e.user_id, e.graph_id, e.graph_version, e.status, ",
            $request,
            " AS request, e.parent_id, e.depth, e.fence, e.attempt, e.stop_requested, e.events, \
             e.stats, e.error, e.created_at, e.started_at, e.ended_at"
        )
    };
}

pub(crate) use execution_columns;

pub(crate) fn execution<R: StoreRow>(row: &R) -> Result<Execution, R::Error> {
    Ok(Execution {
        id: row.id("id")?,
        user_id: row.id("user_id")?,
        graph_id: row.id("graph_id")?,
        graph_version: row.small("graph_version")?,
        status: row.word("status")?,
        request: row.json("request")?,
        parent: row.optional_id("parent_id")?,
        depth: row.small("depth")?,
        fence: row.number("fence")?,
        attempt: row.small("attempt")?,
        stop_requested: row.flag("stop_requested")?,
        events: row.number("events")?,
        stats: row.json("stats")?,
        error: row.optional_json("error")?,
        created_at: row.time("created_at")?,
        started_at: row.optional_time("started_at")?,
        ended_at: row.optional_time("ended_at")?,
    })
}
