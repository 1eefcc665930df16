//! Shared setup for the laws about agents: graphs, library entries, executions, claims, journal batches, reviews.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use ports::leases::JobClaimed;
use ports::store::{
    AfterAdvance, ExecutionAdvance, ExecutionAdvanced, ExecutionCreated, GraphCreated, NewExecution,
};
use ports::{Fenced, Ports};
use protocol::execution::{
    Execution, ExecutionClaim, ExecutionRequest, ExecutionStats, ExecutionStatus, SafeMode,
};
use protocol::graph::{Graph, Node};
use protocol::library::{LibraryAgent, Listing};
use protocol::review::{Review, ReviewStatus};
use protocol::{
    ExecutionId, FolderId, GraphId, Job, LibraryAgentId, ListingVersionId, NodeId, ReviewId, UserId,
};
use serde_json::json;

use super::job_scene::{claim_job, due_jobs, try_claim_job};
use super::scene::LONG;

pub fn ann() -> UserId {
    UserId::from("ann")
}

pub fn bob() -> UserId {
    UserId::from("bob")
}

/// A timestamp that every store keeps exactly.
pub fn some_time() -> Timestamp {
    Timestamp::from_microsecond(1_700_000_000_123_456).expect("a time")
}

pub fn graph(name: &str) -> Graph {
    let node = Node {
        id: NodeId::fresh(),
        block_id: "363ae599-353e-4804-937e-b2ee3cef3da4".into(),
        input_default: [("value".to_owned(), json!("grüße\n\"1\""))].into_iter().collect(),
        metadata: Default::default(),
    };
    Graph {
        version: 1,
        is_active: true,
        name: name.to_owned(),
        description: format!("what {name} does"),
        nodes: vec![node],
        ..Graph::default()
    }
}

/// A library entry of the graph's owner; the store sets the timestamps.
pub fn entry(graph: &Graph) -> LibraryAgent {
    LibraryAgent {
        id: LibraryAgentId::fresh(),
        graph_id: graph.id.clone(),
        graph_version: graph.version,
        name: graph.name.clone(),
        description: graph.description.clone(),
        creator: None,
        folder_id: None::<FolderId>,
        is_favorite: false,
        is_created_by_user: true,
        is_hidden: false,
        use_graph_is_active_version: true,
        settings: SafeMode::default(),
        created_at: some_time(),
        updated_at: some_time(),
        last_run_at: None,
    }
}

/// The library entry of a user who found the graph in the marketplace.
pub fn found_entry(graph: &Graph, creator: &str) -> LibraryAgent {
    let creator = Some(creator.to_owned());
    LibraryAgent { creator, is_created_by_user: false, ..entry(graph) }
}

/// Creates a graph of the user with its library entry.
pub async fn created(ports: &Ports, user: &UserId, name: &str) -> (Graph, LibraryAgent) {
    let graph = graph(name);
    match ports.graphs.create(user, &graph, &entry(&graph)).await.expect("creating succeeds") {
        GraphCreated::New(entry) => (graph, *entry),
        other => panic!("a new graph was expected, not {other:?}"),
    }
}

/// `username/slug` for version 1 of the graph.
pub fn listing(owner: &UserId, username: &str, slug: &str, graph: &Graph) -> Listing {
    Listing {
        version_id: ListingVersionId::fresh(),
        username: username.to_owned(),
        slug: slug.to_owned(),
        name: graph.name.clone(),
        sub_heading: "in short".to_owned(),
        description: "at length".to_owned(),
        categories: vec!["writing".to_owned(), "research".to_owned()],
        is_featured: false,
        graph_id: graph.id.clone(),
        graph_version: graph.version,
        owner: owner.clone(),
        runs: 0,
        updated_at: some_time(),
    }
}

pub fn new_execution(user: &UserId) -> NewExecution {
    let inputs = [("name".to_owned(), json!({"of": ["x", 1, null]}))].into_iter().collect();
    NewExecution {
        id: ExecutionId::fresh(),
        user_id: user.clone(),
        graph_id: GraphId::fresh(),
        graph_version: 1,
        request: ExecutionRequest { inputs, copilot_depth: 2, ..ExecutionRequest::default() },
        parent: None,
        push_grace: Duration::ZERO,
    }
}

/// Creates an execution and expects a new one.
pub async fn create(ports: &Ports, new: NewExecution) -> Execution {
    match ports.executions.create(new).await.expect("creating succeeds") {
        ExecutionCreated::New(run) => *run,
        other => panic!("a new execution was expected, not {other:?}"),
    }
}

/// Creates an execution of `ann`.
pub async fn queued_execution(ports: &Ports) -> Execution {
    create(ports, new_execution(&ann())).await
}

/// Creates an execution started by a node of `parent`.
pub async fn child(ports: &Ports, parent: &ExecutionId) -> Execution {
    create(ports, NewExecution { parent: Some(parent.clone()), ..new_execution(&ann()) }).await
}

pub async fn found(ports: &Ports, run: &ExecutionId) -> Execution {
    ports
        .executions
        .get(&ann(), run)
        .await
        .expect("the read succeeds")
        .expect("the execution exists")
}

pub async fn try_claim(ports: &Ports, run: &ExecutionId) -> JobClaimed {
    try_claim_job(ports, &run.into()).await
}

pub async fn claim(ports: &Ports, run: &ExecutionId) -> ExecutionClaim {
    claim_for(ports, run, LONG).await
}

/// Claims the execution as soon as it can be claimed.
pub async fn claim_for(ports: &Ports, run: &ExecutionId, ttl: Duration) -> ExecutionClaim {
    match claim_job(ports, &run.into(), ttl).await {
        JobClaimed::Execution(granted) => granted.claim,
        other => panic!("an execution was expected, not {other:?}"),
    }
}

/// The executions that are due.
pub async fn due(ports: &Ports) -> Vec<ExecutionId> {
    let execution = |job| match job {
        Job::Execution(id) => Some(id),
        Job::Turn(_) => None,
    };
    due_jobs(ports).await.into_iter().filter_map(execution).collect()
}

/// A batch of `count` events without charges or reviews.
pub fn batch(after: u64, count: u64) -> ExecutionAdvance {
    let event = |run: u64| json!({"run": run, "node": "n", "outputs": [["out", format!("value {run}")]], "at": 17});
    let events: Vec<_> = (after..after + count).map(event).collect();
    let events = match events.as_slice() {
        [] => Bytes::new(),
        events => serde_json::to_vec(events).expect("events are JSON").into(),
    };
    ExecutionAdvance {
        after,
        events,
        count,
        charges: Vec::new(),
        reviews: Vec::new(),
        stats: ExecutionStats {
            node_count: after + count,
            duration: 1.5,
            ..ExecutionStats::default()
        },
        then: AfterAdvance::Continue,
    }
}

pub async fn advance(
    ports: &Ports,
    claim: &ExecutionClaim,
    advance: ExecutionAdvance,
) -> Fenced<ExecutionAdvanced> {
    ports.executions.advance(claim, advance).await.expect("advancing succeeds")
}

/// Ends the execution without another event.
pub async fn end(ports: &Ports, claim: &ExecutionClaim, status: ExecutionStatus) {
    let events =
        ports.executions.get(&ann(), &claim.execution_id).await.expect("the read succeeds");
    let events = events.expect("the execution exists").events;
    let ended =
        ExecutionAdvance { then: AfterAdvance::End { status, error: None }, ..batch(events, 0) };
    assert_eq!(advance(ports, claim, ended).await, Fenced::Done(ExecutionAdvanced::Done));
}

/// A review requested by node `node` of the execution.
pub fn question(run: &ExecutionId, id: &str, node: &str) -> Review {
    Review {
        id: ReviewId::from(id),
        user_id: ann(),
        execution_id: run.clone(),
        graph_id: "g".into(),
        graph_version: 3,
        node_id: node.into(),
        payload: json!({"send": ["this", 1.5], "to": null}),
        instructions: "look at it".to_owned(),
        editable: true,
        status: ReviewStatus::Waiting,
        review_message: None,
        was_edited: false,
        created_at: some_time(),
        reviewed_at: None,
    }
}

/// An execution that waits until these reviews are decided.
pub async fn waiting_for_review(ports: &Ports, ids: &[&str]) -> Execution {
    let run = queued_execution(ports).await;
    let claim = claim(ports, &run.id).await;
    let reviews = ids.iter().map(|id| question(&run.id, id, &format!("node of {id}"))).collect();
    let rest = ExecutionAdvance { reviews, then: AfterAdvance::AwaitReviews, ..batch(0, 1) };
    assert_eq!(advance(ports, &claim, rest).await, Fenced::Done(ExecutionAdvanced::Done));
    found(ports, &run.id).await
}
