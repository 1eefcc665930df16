//! Several processes on one database: one lease holder per turn, exact limits, and no turn given to two relays.

use std::collections::HashSet;
use std::time::Duration;

use futures::future::join_all;
use ports::leases::JobClaimed;
use ports::store::TurnOpened;
use ports::{Leases, Outbox, Sessions, Turns};
use protocol::limits::UserLimits;
use protocol::session::Owner;
use protocol::{Job, TurnId, WorkerId};
use testkit::conformance::scene;

use super::database::Database;
use super::fixture::ports;
use crate::postgres::PostgresStore;

const CAPS: UserLimits = UserLimits { running: 3, in_flight: 6, executions: 3 };

async fn two(database: &Database, caps: UserLimits) -> [PostgresStore; 2] {
    [database.connect_with(caps).await, database.connect_with(caps).await]
}

async fn open(store: &PostgresStore, owner: &Owner) -> Option<TurnId> {
    let session = store.create(owner, Default::default()).await.expect("create");
    match store.open(owner, scene::submission(&session.id, "hello", None)).await.expect("open") {
        TurnOpened::New(turn) => Some(turn.id),
        TurnOpened::TooMany => None,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_caps_of_a_user_hold_across_processes() {
    let database = Database::create().await;
    let stores = two(&database, CAPS).await;
    let ann = scene::user("ann");
    let opened = join_all((0..30).map(|n| open(&stores[n % 2], &ann))).await;
    let turns: Vec<Job> = opened.into_iter().flatten().map(Job::Turn).collect();
    assert_eq!(turns.len(), CAPS.in_flight as usize);
    let folder = tempfile::tempdir().expect("a folder");
    let ports = ports(stores[0].clone(), folder.path()).await;
    let mut ended = 0;
    while ended < turns.len() {
        let worker = WorkerId::fresh();
        let claims = turns
            .iter()
            .flat_map(|turn| stores.iter().map(|store| store.claim(turn, &worker, scene::LONG)));
        let mut granted = HashSet::new();
        for claimed in join_all(claims).await {
            if let JobClaimed::Turn(turn) = claimed.expect("claim") {
                granted.insert(turn.claim);
            }
        }
        assert!(!granted.is_empty() && granted.len() <= CAPS.running as usize, "{}", granted.len());
        ended += granted.len();
        join_all(granted.iter().map(|claim| scene::finish(&ports, claim, "done"))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_has_one_lease_holder_across_processes() {
    let database = Database::create().await;
    let stores = two(&database, super::database::CAPS).await;
    let ann = scene::user("ann");
    for _ in 0..5 {
        let turn = Job::Turn(open(&stores[0], &ann).await.expect("a turn"));
        let workers: Vec<WorkerId> = (0..20).map(|_| WorkerId::fresh()).collect();
        let claims = workers.iter().enumerate();
        let claims = claims.map(|(n, worker)| stores[n % 2].claim(&turn, worker, scene::LONG));
        let claimed = join_all(claims).await;
        let granted = claimed.iter().filter(|claimed| matches!(claimed, Ok(JobClaimed::Turn(_))));
        assert_eq!(granted.count(), 1, "{claimed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_relays_get_the_same_turn() {
    let database = Database::create().await;
    let stores = two(&database, super::database::CAPS).await;
    let ann = scene::user("ann");
    let mut expected = HashSet::new();
    for _ in 0..60 {
        expected.insert(Job::Turn(open(&stores[0], &ann).await.expect("a turn")));
    }
    let takes = (0..12).map(|n| stores[n % 2].due(10, Duration::from_secs(600)));
    let mut given = Vec::new();
    for batch in join_all(takes).await {
        given.extend(batch.expect("due"));
    }
    // Some may have been skipped while the other relay had them locked.
    given.extend(stores[0].due(100, Duration::from_secs(600)).await.expect("due"));
    assert_eq!(given.len(), expected.len(), "none twice");
    assert_eq!(given.into_iter().collect::<HashSet<_>>(), expected);
    assert_eq!(stores[1].due(100, Duration::ZERO).await.expect("due"), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_operations_neither_deadlock_nor_lose_a_permit() {
    let database = Database::create().await;
    let stores = two(&database, CAPS).await;
    let owners = [scene::user("ann"), scene::user("bob"), Owner::Anonymous];
    let folder = tempfile::tempdir().expect("a folder");
    let ports = [
        ports(stores[0].clone(), folder.path()).await,
        ports(stores[1].clone(), folder.path()).await,
    ];
    let lives = (0..36).map(|n| {
        let (store, ports, owner) = (&stores[n % 2], &ports[n % 2], &owners[n % 3]);
        async move {
            let session = store.create(owner, Default::default()).await.expect("create").id;
            for round in 0..3 {
                let new = scene::submission(&session, "hello", None);
                let TurnOpened::New(turn) = store.open(owner, new).await.expect("open") else {
                    continue;
                };
                if n % 5 == 0 {
                    store.request_cancel(owner, &session).await.expect("cancel");
                }
                let claimed =
                    store.claim(&(&turn.id).into(), &WorkerId::fresh(), scene::LONG).await;
                let JobClaimed::Turn(granted) = claimed.expect("claim") else { continue };
                if n % 7 == 0 && round == 1 {
                    break;
                }
                scene::finish(ports, &granted.claim, "done").await;
            }
            assert!(store.delete(owner, &session).await.expect("delete"));
        }
    });
    join_all(lives).await;
    let left = database.sql("SELECT (SELECT count(*) FROM turn) + (SELECT count(*) FROM segment)");
    assert_eq!(left.await[0].get::<_, i64>(0), 0);
    for owner in &owners[..2] {
        let turns: Vec<_> = join_all((0..6).map(|n| open(&stores[n % 2], owner))).await;
        assert!(turns.iter().all(Option::is_some), "every permit is free again");
    }
    let due = stores[0].due(100, Duration::ZERO).await.expect("due");
    assert_eq!(due.len(), 2 * CAPS.running as usize);
}
