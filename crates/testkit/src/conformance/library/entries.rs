//! Laws of `Library`: its entries.

use futures::future::join_all;
use futures::stream::{self, StreamExt};
use ports::Ports;
use ports::store::{AgentAdded, AgentChange, GraphCreated, VersionTerms};
use protocol::execution::SafeMode;
use protocol::graph::Graph;
use protocol::library::LibraryAgent;
use protocol::limits::LIBRARY_AGENTS;
use protocol::{LibraryAgentId, UserId};

use crate::conformance::BackendFixture;
use crate::conformance::agent_scene::*;
use crate::conformance::graphs::added;

/// Creates and publishes a graph of `ann`.
async fn listed(ports: &Ports, name: &str) -> Graph {
    let (graph, _) = created(ports, &ann(), name).await;
    ports.listings.publish(&listing(&ann(), "ann", name, &graph), &graph).await.expect("publish");
    graph
}

async fn add(ports: &Ports, user: &UserId, entry: &LibraryAgent) -> AgentAdded {
    ports.library.add(user, entry).await.expect("adding succeeds")
}

async fn got(ports: &Ports, user: &UserId, id: &LibraryAgentId) -> Option<LibraryAgent> {
    ports.library.get(user, id).await.expect("the read succeeds")
}

pub async fn a_user_has_one_entry_for_a_graph(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let graph = listed(ports, "a").await;
    let entries: Vec<_> = (0..10).map(|_| found_entry(&graph, "ann")).collect();
    let user = bob();
    let (mut made, mut known) = (Vec::new(), Vec::new());
    for added in join_all(entries.iter().map(|entry| add(ports, &user, entry))).await {
        match added {
            AgentAdded::New(entry) => made.push(*entry),
            AgentAdded::Exists(entry) => known.push(*entry),
            other => panic!("{other:?}"),
        }
    }
    let [made] = made.as_slice() else { panic!("one, not {made:?}") };
    assert!(known.iter().all(|entry| entry == made), "{known:?}");
    assert_eq!(got(ports, &bob(), &made.id).await.as_ref(), Some(made));
    let by_graph = ports.library.by_graph(&bob(), &graph.id).await.expect("by graph");
    assert_eq!(by_graph.as_ref(), Some(made));
    assert_eq!((made.creator.as_deref(), made.is_created_by_user), (Some("ann"), false));
    let none =
        add(ports, &bob(), &found_entry(&crate::conformance::agent_scene::graph("x"), "ann")).await;
    assert_eq!(none, AgentAdded::NoGraph);
}

pub async fn library_agents_are_limited_per_user(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let wanted = listed(ports, "wanted").await;
    let user = bob();
    let create = async |n: u32| {
        let graph = graph(&format!("agent {n}"));
        ports.graphs.create(&user, &graph, &entry(&graph)).await.expect("create")
    };
    // A few more than the limit, partly concurrent.
    let all = stream::iter(0..LIBRARY_AGENTS + 5).map(create).buffer_unordered(32);
    let made = all.filter(|made| std::future::ready(matches!(made, GraphCreated::New(_))));
    assert_eq!(made.count().await, LIBRARY_AGENTS as usize);
    assert_eq!(create(0).await, GraphCreated::TooMany);
    assert_eq!(add(ports, &bob(), &found_entry(&wanted, "ann")).await, AgentAdded::TooMany);
    let library = ports.library.list(&bob()).await.expect("list");
    assert_eq!(library.len(), LIBRARY_AGENTS as usize);
    assert_eq!(ports.graphs.list(&bob(), 10, LIBRARY_AGENTS.into()).await.expect("list"), []);
    assert!(ports.library.remove(&bob(), &library[0].id).await.expect("remove"));
    let added = add(ports, &bob(), &found_entry(&wanted, "ann")).await;
    assert!(matches!(added, AgentAdded::New(_)), "{added:?}");
    created(ports, &ann(), "another user's").await;
}

pub async fn a_library_is_seen_by_its_user_only(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, entry) = created(ports, &ann(), "a").await;
    let library = &ports.library;
    assert_eq!(got(ports, &bob(), &entry.id).await, None);
    assert_eq!(library.by_graph(&bob(), &graph.id).await.expect("by graph"), None);
    assert_eq!(library.list(&bob()).await.expect("list"), []);
    let change = AgentChange { name: Some("his".into()), ..AgentChange::default() };
    assert_eq!(library.update(&bob(), &entry.id, change).await.expect("update"), None);
    assert!(!library.remove(&bob(), &entry.id).await.expect("remove"));
    let moved = library.move_agents(&bob(), std::slice::from_ref(&entry.id), None).await;
    assert_eq!(moved.expect("move"), Some(0));
    assert_eq!(got(ports, &ann(), &entry.id).await, Some(entry));
}

pub async fn an_update_changes_only_the_given_fields(fixture: &mut impl BackendFixture) {
    let (_, entry) = created(fixture.ports(), &ann(), "a").await;
    let (_, other) = created(fixture.ports(), &ann(), "b").await;
    let settings = SafeMode { human_in_the_loop: false, sensitive_action: true };
    let changes = [
        AgentChange { name: Some("new".into()), ..AgentChange::default() },
        AgentChange { description: Some("words".into()), ..AgentChange::default() },
        AgentChange { is_favorite: Some(true), ..AgentChange::default() },
        AgentChange { is_hidden: Some(true), ..AgentChange::default() },
        AgentChange { settings: Some(settings), ..AgentChange::default() },
        AgentChange { is_favorite: Some(false), ..AgentChange::default() },
    ];
    let mut expected = entry.clone();
    for change in changes {
        expected.name = change.name.clone().unwrap_or(expected.name);
        expected.description = change.description.clone().unwrap_or(expected.description);
        expected.is_favorite = change.is_favorite.unwrap_or(expected.is_favorite);
        expected.is_hidden = change.is_hidden.unwrap_or(expected.is_hidden);
        expected.settings = change.settings.unwrap_or(expected.settings);
        let changed = fixture.ports().library.update(&ann(), &entry.id, change).await;
        let changed = changed.expect("update").expect("the entry exists");
        assert!(changed.updated_at >= expected.updated_at);
        expected.updated_at = changed.updated_at;
        assert_eq!(changed, expected);
    }
    fixture.restart().await;
    let list = fixture.ports().library.list(&ann()).await.expect("list");
    assert_eq!(list, [expected, other], "most recently changed first");
}

pub async fn an_entry_follows_the_active_version(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let graph = listed(ports, "a").await;
    let mine =
        ports.library.by_graph(&ann(), &graph.id).await.expect("by graph").expect("it exists");
    let entry = found_entry(&graph, "ann");
    assert!(matches!(add(ports, &bob(), &entry).await, AgentAdded::New(_)));
    let versions = async || {
        let his = got(ports, &bob(), &entry.id).await.expect("it exists");
        let mine = got(ports, &ann(), &mine.id).await.expect("it exists");
        (mine.graph_version, his.graph_version)
    };
    let second = added(ports, &graph, VersionTerms::NEXT).await.graph;
    assert_eq!(
        versions().await,
        (2, 1),
        "a new version is visible only to its author until it is published"
    );
    let again = listing(&ann(), "ann", "a", &second);
    ports.listings.publish(&again, &second).await.expect("publish");
    assert_eq!(versions().await, (2, 2));
    ports.graphs.activate(&ann(), &graph.id, 1).await.expect("activate");
    assert_eq!(versions().await, (1, 2), "others follow the marketplace");
    let pin = AgentChange {
        use_graph_is_active_version: Some(false),
        graph_version: Some(1),
        ..AgentChange::default()
    };
    ports.library.update(&bob(), &entry.id, pin).await.expect("update");
    ports.graphs.activate(&ann(), &graph.id, 2).await.expect("activate");
    assert_eq!(versions().await, (2, 1), "a pinned entry keeps its version");
    let his = got(ports, &bob(), &entry.id).await.expect("it exists");
    assert_eq!(his.name, graph.name, "the entry keeps its own name");
}

pub async fn an_entry_cannot_be_pinned_to_an_invisible_version(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let graph = listed(ports, "a").await;
    let entry = found_entry(&graph, "ann");
    let draft = added(ports, &graph, VersionTerms::NEXT).await.graph;
    ports.graphs.activate(&ann(), &graph.id, 1).await.expect("activate");
    assert_eq!(add(ports, &bob(), &found_entry(&draft, "ann")).await, AgentAdded::NoGraph);
    add(ports, &bob(), &entry).await;
    let pin = |version| AgentChange {
        graph_version: Some(version),
        name: Some("pinned".into()),
        ..AgentChange::default()
    };
    for unseen in [2, 3] {
        let pinned = ports.library.update(&bob(), &entry.id, pin(unseen)).await.expect("update");
        assert_eq!(pinned, None);
    }
    assert_eq!(got(ports, &bob(), &entry.id).await.expect("it exists").name, graph.name);
    let mine =
        ports.library.by_graph(&ann(), &graph.id).await.expect("by graph").expect("it exists");
    let pinned = ports.library.update(&ann(), &mine.id, pin(2)).await.expect("update");
    assert_eq!(pinned.expect("the owner sees every version").name, "pinned");
}

pub async fn a_removed_entry_leaves_the_graph(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, mine) = created(ports, &ann(), "a").await;
    assert!(ports.library.remove(&ann(), &mine.id).await.expect("remove"));
    assert!(!ports.library.remove(&ann(), &mine.id).await.expect("remove"));
    assert_eq!(got(ports, &ann(), &mine.id).await, None);
    assert!(ports.graphs.get(&ann(), &graph.id, None).await.expect("get").is_some());
    assert!(matches!(add(ports, &ann(), &entry(&graph)).await, AgentAdded::New(_)));
}
