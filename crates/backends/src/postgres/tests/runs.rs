//! Executions in several processes on one database: one lease holder each, exact limits, no execution given to two
//! relays, and journal throughput.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures::future::join_all;
use ports::leases::JobClaimed;
use ports::store::{AfterAdvance, ExecutionAdvance};
use ports::{Executions, Leases, Outbox};
use protocol::execution::{ExecutionClaim, ExecutionStatus};
use protocol::limits::UserLimits;
use protocol::{ExecutionId, Job, WorkerId};
use testkit::conformance::{agent_scene, scene};

use super::database::{self, Database};
use crate::postgres::PostgresStore;

const CAPS: UserLimits = UserLimits { running: 1, in_flight: 1, executions: 3 };

async fn two(database: &Database, caps: UserLimits) -> [PostgresStore; 2] {
    [database.connect_with(caps).await, database.connect_with(caps).await]
}

async fn create(store: &PostgresStore) -> ExecutionId {
    let new = agent_scene::new_execution(&agent_scene::ann());
    let id = new.id.clone();
    store.create(new).await.expect("create");
    id
}

fn ended(after: u64) -> ExecutionAdvance {
    let status = ExecutionStatus::Completed;
    ExecutionAdvance {
        then: AfterAdvance::End { status, error: None },
        ..agent_scene::batch(after, 1)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_execution_limit_of_a_user_holds_across_processes() {
    let database = Database::create().await;
    let stores = two(&database, CAPS).await;
    let runs = join_all((0..12).map(|n| create(&stores[n % 2]))).await;
    let mut ended_runs = 0;
    while ended_runs < runs.len() {
        let claims = runs.iter().enumerate().map(|(n, run)| {
            let store = &stores[n % 2];
            async move {
                store.claim(&run.into(), &WorkerId::fresh(), scene::LONG).await.expect("claim")
            }
        });
        let granted: HashSet<ExecutionClaim> = join_all(claims)
            .await
            .into_iter()
            .filter_map(|claimed| match claimed {
                JobClaimed::Execution(granted) => Some(granted.claim),
                _ => None,
            })
            .collect();
        assert_eq!(granted.len(), CAPS.executions as usize, "exactly the limit");
        ended_runs += granted.len();
        join_all(granted.iter().map(|claim| stores[0].advance(claim, ended(0)))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_has_one_lease_holder_across_processes() {
    let database = Database::create().await;
    let stores = two(&database, database::CAPS).await;
    for _ in 0..5 {
        let run = Job::Execution(create(&stores[0]).await);
        let workers: Vec<WorkerId> = (0..20).map(|_| WorkerId::fresh()).collect();
        let claims = workers.iter().enumerate();
        let claims = claims.map(|(n, worker)| stores[n % 2].claim(&run, worker, scene::LONG));
        let claimed = join_all(claims).await;
        let granted =
            claimed.iter().filter(|claimed| matches!(claimed, Ok(JobClaimed::Execution(_))));
        assert_eq!(granted.count(), 1, "{claimed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_relays_get_the_same_execution() {
    let database = Database::create().await;
    let stores = two(&database, database::CAPS).await;
    let created = join_all((0..60).map(|n| create(&stores[n % 2]))).await;
    let expected: HashSet<Job> = created.into_iter().map(Job::Execution).collect();
    let hold = Duration::from_secs(600);
    let takes = (0..12).map(|n| stores[n % 2].due(10, hold));
    let mut given = Vec::new();
    for batch in join_all(takes).await {
        given.extend(batch.expect("due"));
    }
    // Some may have been skipped while the other relay had them locked.
    given.extend(stores[0].due(100, hold).await.expect("due"));
    assert_eq!(given.len(), expected.len(), "none twice");
    assert_eq!(given.into_iter().collect::<HashSet<_>>(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_stops_ends_and_sub_executions_neither_deadlock_nor_leave_one_running() {
    let database = Database::create().await;
    let stores = two(&database, database::CAPS).await;
    let ann = agent_scene::ann();
    let trees = (0..8).map(|n| {
        let (here, there, ann) = (&stores[n % 2], &stores[(n + 1) % 2], &ann);
        async move {
            let root = create(here).await;
            here.claim(&(&root).into(), &WorkerId::fresh(), scene::LONG).await.expect("claim");
            let children = (0..6).map(|_| async {
                let new = agent_scene::new_execution(ann);
                let new = ports::store::NewExecution { parent: Some(root.clone()), ..new };
                let id = new.id.clone();
                there.create(new).await.expect("create");
                let claimed = here.claim(&(&id).into(), &WorkerId::fresh(), scene::LONG).await;
                if let JobClaimed::Execution(granted) = claimed.expect("claim") {
                    here.advance(&granted.claim, ended(0)).await.expect("advance");
                }
                here.request_stop(ann, &id).await.expect("stop");
            });
            tokio::join!(join_all(children), there.request_stop(ann, &root)).1.expect("stop");
        }
    });
    join_all(trees).await;
    let at_work = database.sql(
        "SELECT count(*) FROM execution
         WHERE parent_id IS NOT NULL AND NOT stop_requested AND status IN ('QUEUED', 'RUNNING')",
    );
    assert_eq!(at_work.await[0].get::<_, i64>(0), 0);
}

/// A measurement: asserts only that it works.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_macros, reason = "prints the measurement with --no-capture")]
async fn many_executions_journal_at_the_same_time() {
    const ROUNDS: u64 = 40;
    const EVENTS: u64 = 10;
    let database = Database::create().await;
    let store = database.connect().await;
    for runs in [1, 16, 64] {
        let claims = (0..runs).map(|_| async {
            let run = create(&store).await;
            let claimed = store.claim(&run.into(), &WorkerId::fresh(), scene::LONG).await;
            let JobClaimed::Execution(granted) = claimed.expect("claim") else {
                panic!("the execution is not claimed")
            };
            granted.claim
        });
        let claims = join_all(claims).await;
        let started = Instant::now();
        let writing = claims.iter().map(|claim| async {
            for round in 0..ROUNDS {
                let batch = agent_scene::batch(round * EVENTS, EVENTS);
                store.advance(claim, batch).await.expect("advance");
            }
        });
        join_all(writing).await;
        let rate = (runs * ROUNDS) as f64 / started.elapsed().as_secs_f64();
        println!("{runs} runs: {rate:.0} batches/s, {:.0} events/s", rate * EVENTS as f64);
    }
}
