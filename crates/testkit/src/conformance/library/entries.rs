//! Laws of `Library`: its entries.

use futures::future::join_all;
use futures::stream::{self, StreamExt};
use ports::Ports;
use ports::store::{AgentAdded, AgentChange, GraphCreated};
use protocol::execution::SafeMode;
use protocol::graph::Graph;
use protocol::library::LibraryAgent;
use protocol::limits::LIBRARY_AGENTS;
use protocol::{LibraryAgentId, UserId};

use super::super::Fixture;
use super::super::agent_scene::*;

/// A graph of `ann` that everybody can find.
async fn listed(ports: &Ports, name: &str) -> Graph {
    let (graph, _) = created(ports, &ann(), name).await;
    ports.listings.publish(&listing(&ann(), "ann", name, &graph), &graph).await.expect("publish");
    graph
}

async fn add(ports: &Ports, user: &UserId, entry: &LibraryAgent) -> AgentAdded {
    ports.library.add(user, entry).await.expect("adding works")
}

async fn got(ports: &Ports, user: &UserId, id: &LibraryAgentId) -> Option<LibraryAgent> {
    ports.library.get(user, id).await.expect("reading works")
}

pub async fn a_user_has_one_entry_for_a_graph(fixture: &mut impl Fixture) {
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
        add(ports, &bob(), &found_entry(&super::super::agent_scene::graph("x"), "ann")).await;
    assert_eq!(none, AgentAdded::NoGraph);
}

pub async fn a_library_has_no_more_agents_than_it_may(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let wanted = listed(ports, "wanted").await;
    let user = bob();
    let create = async |n: u32| {
        let graph = graph(&format!("agent {n}"));
        ports.graphs.create(&user, &graph, &entry(&graph)).await.expect("create")
    };
    // A few more than there may be, and not all of them one after the other.
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
    created(ports, &ann(), "somebody else's").await;
}

pub async fn a_library_is_seen_by_its_user_only(fixture: &mut impl Fixture) {
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

pub async fn an_entry_changes_only_where_asked(fixture: &mut impl Fixture) {
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
        let changed = changed.expect("update").expect("the entry is there");
        assert!(changed.updated_at >= expected.updated_at);
        expected.updated_at = changed.updated_at;
        assert_eq!(changed, expected);
    }
    fixture.restart().await;
    let list = fixture.ports().library.list(&ann()).await.expect("list");
    assert_eq!(list, [expected, other], "the one that was changed last first");
}

pub async fn an_entry_follows_the_active_version(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let graph = listed(ports, "a").await;
    let mine = ports.library.by_graph(&ann(), &graph.id).await.expect("by graph").expect("there");
    let entry = found_entry(&graph, "ann");
    assert!(matches!(add(ports, &bob(), &entry).await, AgentAdded::New(_)));
    let versions = async || {
        let his = got(ports, &bob(), &entry.id).await.expect("there");
        let mine = got(ports, &ann(), &mine.id).await.expect("there");
        (mine.graph_version, his.graph_version)
    };
    let second = ports.graphs.add_version(&ann(), &graph).await.expect("add").expect("there").graph;
    assert_eq!(versions().await, (2, 1), "an edit is its author's own until it is listed");
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
    assert_eq!(versions().await, (2, 1), "one that does not follow stays");
    let his = got(ports, &bob(), &entry.id).await.expect("there");
    assert_eq!(his.name, graph.name, "its name is its user's");
}

pub async fn an_entry_is_not_pinned_to_what_its_user_does_not_see(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let graph = listed(ports, "a").await;
    let entry = found_entry(&graph, "ann");
    let draft = ports.graphs.add_version(&ann(), &graph).await.expect("add").expect("there").graph;
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
    assert_eq!(got(ports, &bob(), &entry.id).await.expect("there").name, graph.name);
    let mine = ports.library.by_graph(&ann(), &graph.id).await.expect("by graph").expect("there");
    let pinned = ports.library.update(&ann(), &mine.id, pin(2)).await.expect("update");
    assert_eq!(pinned.expect("its owner sees every version").name, "pinned");
}

pub async fn a_removed_entry_leaves_the_graph(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let (graph, mine) = created(ports, &ann(), "a").await;
    assert!(ports.library.remove(&ann(), &mine.id).await.expect("remove"));
    assert!(!ports.library.remove(&ann(), &mine.id).await.expect("remove"));
    assert_eq!(got(ports, &ann(), &mine.id).await, None);
    assert!(ports.graphs.get(&ann(), &graph.id, None).await.expect("get").is_some());
    assert!(matches!(add(ports, &ann(), &entry(&graph)).await, AgentAdded::New(_)));
}
