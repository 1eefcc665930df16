//! Laws of `Listings`.

use ports::store::{ListingPublished, NewExecution};
use ports::{PortError, Ports};
use protocol::ListingVersionId;
use protocol::graph::Graph;
use protocol::library::Listing;

use super::BackendFixture;
use super::agent_scene::*;

#[macro_export]
macro_rules! listings_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, listings:
            a_listing_is_found_by_its_names,
            a_listing_is_published_once,
            a_listing_stores_its_graph,
            a_name_of_another_user_is_refused,
            listings_come_featured_first_and_then_by_name,
            the_runs_of_a_listed_agent_are_counted,
        );
    };
}

async fn publish(ports: &Ports, listing: &Listing, graph: &Graph) -> ListingPublished {
    ports.listings.publish(listing, graph).await.expect("publishing succeeds")
}

async fn named(ports: &Ports, username: &str, slug: &str) -> Option<Listing> {
    ports.listings.by_name(username, slug).await.expect("the read succeeds")
}

async fn of_version(ports: &Ports, id: &ListingVersionId) -> Option<Listing> {
    ports.listings.by_version(id).await.expect("the read succeeds")
}

pub async fn a_listing_is_found_by_its_names(fixture: &mut impl BackendFixture) {
    let graph = graph("a");
    let new = listing(&ann(), "ann", "my-agent", &graph);
    assert_eq!(publish(fixture.ports(), &new, &graph).await, ListingPublished::New);
    fixture.restart().await;
    let ports = fixture.ports();
    let stored = named(ports, "ann", "my-agent").await.expect("it exists");
    assert_eq!(stored, Listing { updated_at: stored.updated_at, ..new.clone() });
    assert_eq!(of_version(ports, &new.version_id).await.as_ref(), Some(&stored));
    assert_eq!(ports.listings.list().await.expect("list"), [stored]);
    for (username, slug) in [("ann", "else"), ("bob", "my-agent"), ("Ann", "my-agent")] {
        assert_eq!(named(ports, username, slug).await, None);
    }
    assert_eq!(of_version(ports, &"none".into()).await, None);
}

pub async fn a_listing_is_published_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let graph = graph("a");
    let first = listing(&ann(), "ann", "a", &graph);
    assert_eq!(publish(ports, &first, &graph).await, ListingPublished::New);
    let same = Listing { name: "changed".into(), ..first.clone() };
    assert_eq!(publish(ports, &same, &graph).await, ListingPublished::Before);
    assert_eq!(named(ports, "ann", "a").await.expect("it exists").name, graph.name);
    let newer = Graph { version: 2, name: "better".into(), ..graph.clone() };
    let second = listing(&ann(), "ann", "a", &newer);
    assert_eq!(publish(ports, &second, &newer).await, ListingPublished::NewVersion);
    assert_eq!(publish(ports, &second, &newer).await, ListingPublished::Before);
    assert_eq!(publish(ports, &first, &graph).await, ListingPublished::Before, "an older one, too");
    let now = named(ports, "ann", "a").await.expect("it exists");
    assert_eq!((&now.version_id, now.graph_version), (&second.version_id, 2));
    assert_eq!(of_version(ports, &first.version_id).await, Some(now.clone()), "as it is now");
    assert_eq!(ports.listings.list().await.expect("list"), [now]);
    let seen = ports.graphs.get(&bob(), &graph.id, Some(1)).await.expect("get");
    assert!(seen.is_some(), "a published version stays visible");
}

pub async fn a_listing_stores_its_graph(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let graph = graph("a");
    publish(ports, &listing(&ann(), "ann", "a", &graph), &graph).await;
    let stored = ports.graphs.get(&ann(), &graph.id, None).await.expect("get").expect("stored");
    assert_eq!((stored.graph, stored.user_id), (graph.clone(), ann()));
    assert_eq!(ports.library.list(&ann()).await.expect("list"), [], "and nothing else");
    let newer = Graph { version: 2, name: "better".into(), ..graph.clone() };
    publish(ports, &listing(&ann(), "ann", "a", &newer), &newer).await;
    let active = ports.graphs.get(&ann(), &graph.id, None).await.expect("get").expect("stored");
    assert_eq!(active.graph, newer, "a newer one becomes active");
    // An existing version is not changed.
    let differs = Graph { name: "else".into(), ..newer.clone() };
    publish(ports, &listing(&ann(), "ann", "b", &differs), &differs).await;
    let active = ports.graphs.get(&ann(), &graph.id, None).await.expect("get").expect("stored");
    assert_eq!(active.graph, newer);
    let stolen = ports.listings.publish(&listing(&bob(), "bob", "a", &graph), &graph).await;
    assert!(matches!(stolen, Err(PortError::Broken(_))), "{stolen:?}");
    assert_eq!(named(ports, "bob", "a").await, None);
}

pub async fn a_name_of_another_user_is_refused(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (mine, his) = (graph("mine"), graph("his"));
    publish(ports, &listing(&ann(), "ann", "a", &mine), &mine).await;
    for slug in ["a", "b"] {
        let listed = listing(&bob(), "ann", slug, &his);
        assert_eq!(publish(ports, &listed, &his).await, ListingPublished::NameTaken);
        assert_eq!(of_version(ports, &listed.version_id).await, None);
    }
    assert_eq!(ports.graphs.get(&bob(), &his.id, None).await.expect("get"), None);
    assert_eq!(named(ports, "ann", "a").await.expect("it exists").owner, ann());
    assert_eq!(
        publish(ports, &listing(&bob(), "bob", "a", &his), &his).await,
        ListingPublished::New
    );
}

pub async fn listings_come_featured_first_and_then_by_name(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    for (name, is_featured) in [("b", false), ("d", true), ("a", false), ("c", true)] {
        let graph = graph(name);
        let listed = Listing { is_featured, ..listing(&ann(), "ann", name, &graph) };
        publish(ports, &listed, &graph).await;
    }
    let names: Vec<String> =
        ports.listings.list().await.expect("list").into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["c", "d", "a", "b"]);
}

pub async fn the_runs_of_a_listed_agent_are_counted(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let graph = graph("a");
    publish(ports, &listing(&ann(), "ann", "a", &graph), &graph).await;
    for user in [ann(), bob(), bob()] {
        let new = NewExecution { graph_id: graph.id.clone(), ..new_execution(&user) };
        create(ports, new).await;
    }
    queued_execution(ports).await;
    assert_eq!(named(ports, "ann", "a").await.expect("it exists").runs, 3);
    assert_eq!(ports.listings.list().await.expect("list")[0].runs, 3);
}
