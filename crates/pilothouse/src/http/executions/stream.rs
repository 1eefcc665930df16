//! Following a run as it happens.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use protocol::{ExecutionId, GraphId, cursor};
use serde::Deserialize;

use super::super::App;
use super::super::accept::Peer;
use super::super::auth::{Identity, Person};
use super::super::json::Query;
use super::super::path::Ids;
use super::super::problem::{Answer, Problem, ProblemBody};
use super::feed::{self, NodeUpdate};
use super::find;

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct FollowQuery {
    /// The id of the last event you have. `Last-Event-ID` does the same.
    after: Option<String>,
}

/// Follow a run as it happens.
///
/// `node_execution_event`s carry what happened to a node since the event before and have the number of the event as
/// their id; `graph_execution_event`s carry the run and have none. The last event is `[DONE]`, when the run has ended.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/executions/{execution_id}/stream", operation_id = "follow_execution", tag = "executions",
    params(("graph_id" = String, Path), ("execution_id" = String, Path), FollowQuery),
    responses(
        (status = 200, description = "Server-sent events", body = NodeUpdate, content_type = "text/event-stream"),
        (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 429, description = "Too many streams are open for you", body = ProblemBody),
    )
)]
pub(crate) async fn follow(
    State(app): State<Arc<App>>,
    Person(user): Person,
    identity: Identity,
    Extension(peer): Extension<Peer>,
    Ids(graph, id): Ids<GraphId, ExecutionId>,
    Query(query): Query<FollowQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let execution = find(&app, &user, &graph, &id).await?;
    if app.engine.is_shutting_down() {
        return Err(Problem::shutting_down());
    }
    let permit = app.stream_permits.take(&identity.owner, peer)?;
    let after = beginning(&headers, &query, execution.events);
    let follower = app.engine.follow_execution(&user, &id, after);
    Ok(feed::respond(app, identity, execution, follower, permit))
}

/// An event we know is gone on from; every other one, and none, gets everything.
fn beginning(headers: &HeaderMap, query: &FollowQuery, events: u64) -> u64 {
    let sent = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let sent = sent.or(query.after.as_deref());
    sent.and_then(cursor::parse).filter(|after| *after <= events).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_on_after_an_event_that_it_knows() {
        let query = |after: &str| FollowQuery { after: Some(after.to_owned()) };
        let none = HeaderMap::new();
        assert_eq!(beginning(&none, &query("7"), 9), 7);
        assert_eq!(beginning(&none, &query("10"), 9), 0, "it has not happened");
        assert_eq!(beginning(&none, &query("x"), 9), 0);
        assert_eq!(beginning(&none, &FollowQuery { after: None }, 9), 0);
        let headers = HeaderMap::from_iter([("last-event-id".parse().expect("a name"), 3.into())]);
        assert_eq!(beginning(&headers, &query("7"), 9), 3, "the browser knows better");
    }
}
