//! Streams an execution.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use protocol::{ExecutionId, GraphId};
use serde::Deserialize;

use super::execution_stream::{ExecutionStream, NodeUpdate};
use super::find;
use crate::http::AppState;
use crate::http::extract::{CallerIdentity, PathIds, Query, SignedInUser};
use crate::http::problem::{ApiProblem, ApiResult, ProblemBody};
use crate::http::responses::NotFound;
use crate::http::server::PeerAddress;
use crate::http::stream::event_stream::{StreamConnection, last_received};

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct FollowQuery {
    /// The id of the last received event. `Last-Event-ID` does the same.
    after: Option<String>,
}

/// Stream an execution.
///
/// A `node_execution_event` contains what changed in a node since the previous event; its id is the number of the event.
/// A `graph_execution_event` contains the execution and has no id. The last event is `[DONE]`, when the execution has
/// ended.
#[utoipa::path(
    get, path = "/graphs/{graph_id}/executions/{execution_id}/stream", operation_id = "follow_execution", tag = "executions",
    params(("graph_id" = String, Path), ("execution_id" = String, Path), FollowQuery),
    responses(
        (status = 200, description = "Server-sent events", body = NodeUpdate, content_type = "text/event-stream"),
        NotFound, (status = 429, description = "The caller has too many open streams", body = ProblemBody),
    )
)]
pub(crate) async fn follow(
    State(app): State<Arc<AppState>>,
    SignedInUser(user): SignedInUser,
    identity: CallerIdentity,
    Extension(peer): Extension<PeerAddress>,
    PathIds(graph, id): PathIds<GraphId, ExecutionId>,
    Query(query): Query<FollowQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let execution = find(&app, &user, &graph, &id).await?;
    if app.engine.is_shutting_down() {
        return Err(ApiProblem::shutting_down());
    }
    let connection = StreamConnection::open(app, identity, peer)?;
    let after = beginning(&headers, &query, execution.events);
    let follower = connection.app.engine.follow_execution(&user, &id, after);
    Ok(connection.respond(ExecutionStream::new(execution, follower)))
}

/// The stream continues after a known event; for any other id, and for none, it starts at the beginning.
fn beginning(headers: &HeaderMap, query: &FollowQuery, events: u64) -> u64 {
    let after = last_received(headers, query.after.as_deref());
    after.filter(|after| *after <= events).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_continues_after_a_known_event() {
        let query = |after: &str| FollowQuery { after: Some(after.to_owned()) };
        let none = HeaderMap::new();
        assert_eq!(beginning(&none, &query("7"), 9), 7);
        assert_eq!(beginning(&none, &query("10"), 9), 0, "there is no such event yet");
        assert_eq!(beginning(&none, &query("x"), 9), 0);
        assert_eq!(beginning(&none, &FollowQuery { after: None }, 9), 0);
        let headers = HeaderMap::from_iter([("last-event-id".parse().expect("a name"), 3.into())]);
        assert_eq!(beginning(&headers, &query("7"), 9), 3, "the header takes precedence");
    }
}
