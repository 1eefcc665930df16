//! Laws of `Graphs`.

use futures::future::join_all;
use ports::Ports;
use ports::store::{GraphCreated, GraphDeleted, VersionAdded, VersionTerms};
use protocol::graph::{Graph, StoredGraph};
use protocol::{GraphId, UserId};
use serde_json::json;

use super::BackendFixture;
use super::agent_scene::*;

#[macro_export]
macro_rules! graphs_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, graphs:
            a_graph_is_created_once_with_its_entry,
            a_graph_of_another_user_is_not_overwritten,
            a_new_version_becomes_active,
            a_draft_is_kept_beside_the_active_version,
            an_edit_of_an_old_version_is_refused,
            an_older_version_can_be_made_active,
            a_graph_is_seen_by_its_owner_its_libraries_and_the_marketplace,
            graphs_are_listed_newest_first,
            graphs_that_mention_another_one_are_found,
            a_deleted_graph_is_gone,
            a_listed_graph_cannot_be_deleted,
        );
    };
}

async fn get(
    ports: &Ports,
    user: &UserId,
    id: &GraphId,
    version: Option<u32>,
) -> Option<StoredGraph> {
    ports.graphs.get(user, id, version).await.expect("the read succeeds")
}

/// The version number that the user sees.
async fn seen(ports: &Ports, user: &UserId, id: &GraphId, version: Option<u32>) -> Option<u32> {
    get(ports, user, id, version).await.map(|found| found.graph.version)
}

/// Adds a version of the graph with another name.
async fn next(ports: &Ports, graph: &Graph, name: &str) -> StoredGraph {
    let next = Graph { name: name.to_owned(), description: "better".to_owned(), ..graph.clone() };
    added(ports, &next, VersionTerms::NEXT).await
}

/// Adds a version on these terms, which the store accepts.
pub(crate) async fn added(ports: &Ports, graph: &Graph, terms: VersionTerms) -> StoredGraph {
    match ports.graphs.add_version(&ann(), graph, terms).await.expect("adding succeeds") {
        VersionAdded::Added(stored) => *stored,
        other => panic!("{other:?}"),
    }
}

pub async fn a_graph_is_created_once_with_its_entry(fixture: &mut impl BackendFixture) {
    let graph = graph("a");
    let entries: Vec<_> = (0..10).map(|_| entry(&graph)).collect();
    let ports = fixture.ports();
    let user = ann();
    let all = entries.iter().map(|entry| ports.graphs.create(&user, &graph, entry));
    let mut made = Vec::new();
    for one in join_all(all).await {
        match one.expect("create") {
            GraphCreated::New(entry) => made.push(*entry),
            GraphCreated::Taken => {}
            other => panic!("{other:?}"),
        }
    }
    let [made] = made.as_slice() else { panic!("one, not {made:?}") };
    assert!(entries.iter().any(|entry| entry.id == made.id));
    fixture.restart().await;
    let ports = fixture.ports();
    let stored = get(ports, &ann(), &graph.id, None).await.expect("it exists");
    assert_eq!((stored.graph, stored.user_id), (graph.clone(), ann()));
    assert_eq!(seen(ports, &ann(), &graph.id, Some(1)).await, Some(1));
    assert_eq!(seen(ports, &ann(), &graph.id, Some(2)).await, None);
    assert_eq!(ports.library.list(&ann()).await.expect("list"), std::slice::from_ref(made));
    assert_eq!((&made.graph_id, made.graph_version), (&graph.id, 1));
    assert_eq!((&made.name, &made.description), (&graph.name, &graph.description));
}

pub async fn a_graph_of_another_user_is_not_overwritten(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (mine, _) = created(ports, &ann(), "mine").await;
    let his = Graph { name: "his".into(), ..mine.clone() };
    let made = ports.graphs.create(&bob(), &his, &entry(&his)).await.expect("create");
    assert_eq!(made, GraphCreated::Taken);
    let added = ports.graphs.add_version(&bob(), &his, VersionTerms::NEXT).await;
    assert_eq!(added.expect("add"), VersionAdded::Missing);
    assert!(!ports.graphs.activate(&bob(), &mine.id, 1).await.expect("activate"));
    let deleted = ports.graphs.delete(&bob(), &mine.id).await.expect("delete");
    assert_eq!(deleted, GraphDeleted::Missing);
    assert_eq!(ports.graphs.versions(&bob(), &mine.id).await.expect("versions"), []);
    assert_eq!(ports.library.list(&bob()).await.expect("list"), []);
    let stored = get(ports, &ann(), &mine.id, None).await.expect("it exists");
    assert_eq!(stored.graph, mine);
}

pub async fn a_new_version_becomes_active(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, entry) = created(ports, &ann(), "a").await;
    let second = next(ports, &Graph { version: 7, ..graph.clone() }, "b").await;
    assert_eq!((second.graph.version, second.graph.is_active), (2, true), "the next one");
    assert_eq!(next(ports, &graph, "c").await.graph.version, 3);
    let active = get(ports, &ann(), &graph.id, None).await.expect("one is active");
    assert_eq!((active.graph.version, active.graph.name.as_str()), (3, "c"));
    let first = get(ports, &ann(), &graph.id, Some(1)).await.expect("the first is kept");
    assert_eq!(first.graph, Graph { is_active: false, ..graph.clone() }, "and never changes");
    let versions = ports.graphs.versions(&ann(), &graph.id).await.expect("versions");
    let versions: Vec<_> = versions.iter().map(|meta| (meta.version, meta.is_active)).collect();
    assert_eq!(versions, [(3, true), (2, false), (1, false)]);
    let now = ports.library.get(&ann(), &entry.id).await.expect("get").expect("it exists");
    assert_eq!(
        (now.graph_version, now.name.as_str(), now.description.as_str()),
        (3, "c", "better")
    );
    let none = super::agent_scene::graph("none");
    let unknown = ports.graphs.add_version(&ann(), &none, VersionTerms::NEXT).await;
    assert_eq!(unknown.expect("add"), VersionAdded::Missing);
    let all: Vec<_> = join_all((0..10).map(|_| next(ports, &graph, "many"))).await;
    let mut numbers: Vec<u32> = all.iter().map(|stored| stored.graph.version).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (4..14).collect::<Vec<_>>(), "dense, under concurrency");
    assert_eq!(seen(ports, &ann(), &graph.id, None).await, Some(13));
}

pub async fn a_draft_is_kept_beside_the_active_version(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, entry) = created(ports, &ann(), "a").await;
    let draft = Graph { name: "draft".to_owned(), ..graph.clone() };
    let stored = added(ports, &draft, VersionTerms { base: Some(1), activate: false }).await;
    assert_eq!((stored.graph.version, stored.graph.is_active), (2, false));
    assert_eq!(seen(ports, &ann(), &graph.id, None).await, Some(1), "what runs stays");
    assert_eq!(seen(ports, &ann(), &graph.id, Some(2)).await, Some(2));
    let now = ports.library.get(&ann(), &entry.id).await.expect("get").expect("it exists");
    assert_eq!((now.graph_version, now.name.as_str()), (1, "a"));
    assert!(ports.graphs.activate(&ann(), &graph.id, 2).await.expect("activate"));
    assert_eq!(seen(ports, &ann(), &graph.id, None).await, Some(2));
}

pub async fn an_edit_of_an_old_version_is_refused(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, _) = created(ports, &ann(), "a").await;
    let terms = VersionTerms { base: Some(1), activate: true };
    let user = ann();
    let edits = join_all((0..10).map(|_| ports.graphs.add_version(&user, &graph, terms))).await;
    let (mut stored, mut stale) = (0, 0);
    for edit in edits {
        match edit.expect("add") {
            VersionAdded::Added(added) => {
                assert_eq!(added.graph.version, 2);
                stored += 1;
            }
            VersionAdded::Stale { newest } => {
                assert_eq!(newest, 2);
                stale += 1;
            }
            VersionAdded::Missing => panic!("it exists"),
        }
    }
    assert_eq!((stored, stale), (1, 9));
    assert_eq!(ports.graphs.versions(&ann(), &graph.id).await.expect("versions").len(), 2);
}

pub async fn an_older_version_can_be_made_active(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, entry) = created(ports, &ann(), "a").await;
    next(ports, &graph, "b").await;
    assert!(ports.graphs.activate(&ann(), &graph.id, 1).await.expect("activate"));
    assert_eq!(seen(ports, &ann(), &graph.id, None).await, Some(1));
    assert!(!ports.graphs.activate(&ann(), &graph.id, 3).await.expect("activate"));
    assert_eq!(seen(ports, &ann(), &graph.id, None).await, Some(1));
    let now = ports.library.get(&ann(), &entry.id).await.expect("get").expect("it exists");
    assert_eq!(now.graph_version, 1);
    assert_eq!(next(ports, &graph, "c").await.graph.version, 3);
    let versions = ports.graphs.versions(&ann(), &graph.id).await.expect("versions");
    assert_eq!(versions.iter().filter(|meta| meta.is_active).count(), 1);
}

pub async fn a_graph_is_seen_by_its_owner_its_libraries_and_the_marketplace(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let (graph, _) = created(ports, &ann(), "a").await;
    next(ports, &graph, "listed").await;
    for version in [None, Some(1), Some(2)] {
        assert_eq!(seen(ports, &bob(), &graph.id, version).await, None);
    }
    let hidden = ports.library.add(&bob(), &found_entry(&graph, "ann")).await.expect("add");
    assert_eq!(hidden, ports::store::AgentAdded::NoGraph);

    let second = get(ports, &ann(), &graph.id, Some(2)).await.expect("it exists").graph;
    let listed = listing(&ann(), "ann", "a", &second);
    ports.listings.publish(&listed, &second).await.expect("publish");
    next(ports, &graph, "active").await;
    next(ports, &graph, "a draft").await;
    assert!(ports.graphs.activate(&ann(), &graph.id, 3).await.expect("activate"));
    let views = [(None, Some(2)), (Some(1), None), (Some(2), Some(2)), (Some(3), None)];
    for (version, expected) in views.into_iter().chain([(Some(4), None)]) {
        assert_eq!(seen(ports, &bob(), &graph.id, version).await, expected, "{version:?}");
    }
    let mut held = found_entry(&second, "ann");
    held.use_graph_is_active_version = false;
    ports.library.add(&bob(), &held).await.expect("add");
    let third = get(ports, &ann(), &graph.id, Some(3)).await.expect("it exists").graph;
    ports.listings.publish(&listing(&ann(), "ann", "a", &third), &third).await.expect("publish");
    assert_eq!(seen(ports, &bob(), &graph.id, Some(3)).await, Some(3));
    assert_eq!(seen(ports, &bob(), &graph.id, None).await, Some(2), "the library entry pins it");
    let cy = UserId::from("cy");
    assert_eq!(seen(ports, &cy, &graph.id, None).await, Some(3), "the last published version");
    assert_eq!(ports.graphs.list(&bob(), 10, 0).await.expect("list"), [], "it is not bob's");
}

pub async fn graphs_are_listed_newest_first(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (first, _) = created(ports, &ann(), "first").await;
    let (second, _) = created(ports, &ann(), "second").await;
    let (third, _) = created(ports, &ann(), "third").await;
    created(ports, &bob(), "his").await;
    let all = ports.graphs.list(&ann(), 10, 0).await.expect("list");
    let ids: Vec<_> = all.iter().map(|meta| meta.id.clone()).collect();
    assert_eq!(ids, [third.id, second.id.clone(), first.id]);
    next(ports, &second, "newer").await;
    let page = ports.graphs.list(&ann(), 1, 0).await.expect("list");
    assert_eq!(page.len(), 1);
    assert_eq!((&page[0].id, page[0].version, page[0].is_active), (&second.id, 2, true));
    assert_eq!((page[0].name.as_str(), page[0].description.as_str()), ("newer", "better"));
    assert_eq!(ports.graphs.list(&ann(), 10, 1).await.expect("list").len(), 2);
}

pub async fn graphs_that_mention_another_one_are_found(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let inner = graph("inner");
    let mentions = |name: &str| {
        let mut outer = graph(name);
        let value = json!(inner.id.as_str());
        outer.nodes[0].input_default.insert("graph_id".to_owned(), value);
        outer
    };
    let (first, second) = (mentions("first"), mentions("second"));
    // The active version counts.
    let gone = mentions("no longer");
    let of_bob = mentions("of bob");
    for (user, graph) in [
        (ann(), &inner),
        (ann(), &first),
        (ann(), &second),
        (ann(), &graph("other")),
        (ann(), &gone),
        (bob(), &of_bob),
    ] {
        let made = ports.graphs.create(&user, graph, &entry(graph)).await.expect("create");
        assert!(matches!(made, GraphCreated::New(_)), "{made:?}");
    }
    added(ports, &Graph { nodes: Vec::new(), ..gone }, VersionTerms::NEXT).await;
    let found = async |limit: u32| -> Vec<String> {
        let found = ports.graphs.mentioning(&ann(), &inner.id, limit).await.expect("the read");
        found.into_iter().map(|stored| stored.graph.name).collect()
    };
    assert_eq!(found(10).await, ["second", "first"]);
    assert_eq!(found(1).await, ["second"]);
    let none = ports.graphs.mentioning(&ann(), &second.id, 10).await.expect("the read");
    assert_eq!(none, []);
}

pub async fn a_deleted_graph_is_gone(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, entry) = created(ports, &ann(), "a").await;
    let (kept, _) = created(ports, &ann(), "b").await;
    next(ports, &graph, "c").await;
    let delete = async || ports.graphs.delete(&ann(), &graph.id).await.expect("delete");
    assert_eq!(delete().await, GraphDeleted::Deleted(2));
    assert_eq!(delete().await, GraphDeleted::Missing);
    for version in [None, Some(1), Some(2)] {
        assert_eq!(seen(ports, &ann(), &graph.id, version).await, None);
    }
    assert_eq!(ports.library.get(&ann(), &entry.id).await.expect("get"), None);
    assert_eq!(seen(ports, &ann(), &kept.id, None).await, Some(1));
}

pub async fn a_listed_graph_cannot_be_deleted(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, entry) = created(ports, &ann(), "a").await;
    let listed = listing(&ann(), "ann", "a", &graph);
    ports.listings.publish(&listed, &graph).await.expect("publish");
    let deleted = ports.graphs.delete(&ann(), &graph.id).await.expect("delete");
    assert_eq!(deleted, GraphDeleted::Listed);
    assert_eq!(seen(ports, &ann(), &graph.id, Some(1)).await, Some(1));
    assert_eq!(ports.library.get(&ann(), &entry.id).await.expect("get"), Some(entry));
}
