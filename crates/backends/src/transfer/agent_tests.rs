//! Agents and executions of an embedded store exist on the servers after a transfer, and continue.

use ports::Ports;
use ports::leases::JobClaimed;
use ports::store::{JournalBatch, ReviewVerdict, VersionAdded, VersionTerms};
use protocol::ExecutionId;
use protocol::credit::TransactionKind;
use protocol::execution::ExecutionStatus;
use protocol::graph::Graph;
use protocol::library::LibraryAgent;
use serde_json::json;
use testkit::conformance::agent_scene::{self, ann};

use super::tests::{Servers, close};
use super::transfer;
use crate::{ConnectOptions, connect};

/// Data that must be the same before and after.
struct Kept {
    graph: Graph,
    entry: LibraryAgent,
    running: ExecutionId,
    resting: ExecutionId,
    journal: Vec<JournalBatch>,
}

async fn fill(ports: &Ports) -> Kept {
    let (graph, entry) = agent_scene::created(ports, &ann(), "mine").await;
    let newer = Graph { name: "better".into(), ..graph };
    let added = ports.graphs.add_version(&ann(), &newer, VersionTerms::NEXT).await.expect("add");
    let VersionAdded::Added(stored) = added else { panic!("{added:?}") };
    let graph = stored.graph;
    let listed = agent_scene::listing(&ann(), "ann", "mine", &graph);
    ports.listings.publish(&listed, &graph).await.expect("publish");
    let running = agent_scene::queued_execution(ports).await.id;
    let claim = agent_scene::claim(ports, &running).await;
    agent_scene::advance(ports, &claim, agent_scene::batch(0, 3)).await;
    agent_scene::advance(ports, &claim, agent_scene::batch(3, 2)).await;
    let resting = agent_scene::waiting_for_review(ports, &["one", "two"]).await.id;
    decide(ports, "one").await;
    ports.credits.book(&ann(), "k", 70, TransactionKind::TopUp, "a gift").await.expect("book");
    ports.values.set(&ann(), "seen", &json!({"a": [1, "ä"]})).await.expect("set");
    let entry = ports.library.get(&ann(), &entry.id).await.expect("get").expect("there");
    let journal = read(ports, &running).await;
    Kept { graph, entry, running, resting, journal }
}

async fn read(ports: &Ports, run: &ExecutionId) -> Vec<JournalBatch> {
    ports.executions.journal(&ann(), run, 0, 1_000_000).await.expect("journal")
}

async fn decide(ports: &Ports, id: &str) -> ports::store::ReviewsDecided {
    let verdict = ReviewVerdict {
        id: id.into(),
        approved: true,
        message: None,
        data: None,
        for_the_rest: true,
    };
    ports.reviews.decide(&ann(), &[verdict]).await.expect("decide")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_and_their_executions_continue_after_the_transfer() {
    let embedded = tempfile::tempdir().expect("a folder");
    let source = connect(&ConnectOptions::embedded(embedded.path())).await.expect("it opens");
    let kept = fill(&source.ports).await;
    close(source).await;
    let servers = Servers::start().await;
    close(servers.open().await).await;
    let moved = transfer(&servers.options(), embedded.path()).await.expect("it moves");
    assert_eq!((moved.open_turns, moved.open_executions), (0, 2));

    let open = servers.open().await;
    let ports = &open.ports;
    let graph = ports.graphs.get(&ann(), &kept.graph.id, None).await.expect("get");
    assert_eq!(graph.expect("there").graph, kept.graph);
    let entry = ports.library.by_graph(&ann(), &kept.graph.id).await.expect("get");
    assert_eq!(entry, Some(kept.entry));
    let listed = ports.listings.by_name("ann", "mine").await.expect("get").expect("there");
    assert_eq!(listed.graph_id, kept.graph.id);
    assert_eq!(ports.credits.balance(&ann()).await.expect("balance"), 70);
    let value = ports.values.get(&ann(), "seen").await.expect("get");
    assert_eq!(value, Some(json!({"a": [1, "ä"]})));

    assert_eq!(agent_scene::due(ports).await, std::slice::from_ref(&kept.running));
    assert_eq!(read(ports, &kept.running).await, kept.journal);
    let claim = agent_scene::claim(ports, &kept.running).await;
    agent_scene::advance(ports, &claim, agent_scene::batch(5, 1)).await;
    agent_scene::end(ports, &claim, ExecutionStatus::Completed).await;
    let resting = &kept.resting;
    assert_eq!(agent_scene::try_claim(ports, resting).await, JobClaimed::NotReady);
    decide(ports, "two").await;
    agent_scene::claim(ports, resting).await;
    // New executions get new numbers.
    let fresh = agent_scene::queued_execution(ports).await.id;
    assert_eq!(read(ports, &fresh).await, []);
    close(open).await;
}
