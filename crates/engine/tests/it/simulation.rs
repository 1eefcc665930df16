//! Runs many seeds, each a different history. A failure names its seed, and the same test with
//! `PILOTHOUSE_SIM_SEED=<seed>` replays that seed and prints everything that happened.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ports::store::NewSession;
use protocol::SessionId;
use testkit::scale::scaled;
use testkit::sim::{EventTrace, SimRng, Simulation, SimulationConfig};
use tokio::time::sleep;

use crate::checks;
use crate::client::Message;
use crate::fleet::Fleet;
use crate::outside;
use crate::plan::{LEASE, Plan};
use crate::tally::Tally;

/// How many seeds each kind of plan tries, times `TEST_SCALE`.
const SEEDS: usize = 500;
const CALM_SEEDS: usize = 100;
/// Latest end of everything after the end of the faults: a turn that the queue lost after its push is pushed again
/// after half a minute and then has to be answered, and such delays can add up.
const SETTLED: Duration = Duration::from_secs(300);

#[test]
fn the_guarantees_hold_whatever_fails() {
    let seeds = scaled(SEEDS) as u64;
    let tally = each_seed(seeds, Plan::stormy);
    assert!(tally.completed > seeds && tally.failed > seeds / 4, "{tally:?}");
    assert!(tally.cancelled > seeds / 4 && tally.taken_over > seeds / 4, "{tally:?}");
    assert!(tally.model_calls > 4 * seeds && tally.tool_calls > seeds, "{tally:?}");
    assert!(tally.crash_loops > seeds / 100 && tally.stale_writes > seeds / 20, "{tally:?}");
    assert!(tally.delegated > seeds / 2 && tally.background > seeds / 2, "{tally:?}");
    assert!(tally.operations > seeds / 2 && tally.called_back > seeds / 10, "{tally:?}");
    assert!(tally.delivered > seeds / 2 && tally.dropped > seeds / 50, "{tally:?}");
    assert!(tally.returned > seeds / 50, "{tally:?}");
}

#[test]
fn the_guarantees_hold_when_nothing_fails() {
    let tally = each_seed(scaled(CALM_SEEDS) as u64, Plan::calm);
    assert_eq!((tally.taken_over, tally.crash_loops), (0, 0), "{tally:?}");
}

#[test]
fn the_guarantees_hold_when_no_hint_arrives() {
    let seeds = scaled(CALM_SEEDS) as u64;
    let tally = each_seed(seeds, Plan::without_hints);
    assert!(tally.cancelled > seeds / 4, "{tally:?}");
}

#[test]
fn one_worker_and_one_permit_are_enough_for_a_whole_tree() {
    let seeds = scaled(CALM_SEEDS) as u64;
    let tally = each_seed(seeds, Plan::narrow);
    assert!(tally.delegated > seeds && tally.deep > seeds / 10, "{tally:?}");
    assert!(tally.completed > seeds, "{tally:?}");
}

#[test]
fn a_seed_always_gives_the_same_history() {
    for seed in 0..10 {
        let trace = || run(seed, Plan::stormy, EventTrace::Recorded).trace();
        let (first, second) = (trace(), trace());
        let differs = first.iter().zip(&second).find(|(first, second)| first != second);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(first.len(), second.len(), "seed {seed}");
        assert!(first.len() > 100, "seed {seed} has events");
    }
}

#[test]
fn a_users_single_turn_waits_for_one_rotation_at_most() {
    replay(Plan::crowded);
    for seed in 0..40 {
        let sim = run(seed, Plan::crowded, EventTrace::Off);
        assert_eq!(sim.observations().violations, Vec::<String>::new(), "seed {seed}");
        let (state, asked) = (sim.backend.state(), sim.observations().first_model_calls.clone());
        let bobs = state.turns.values().filter(|row| row.quota_key == "bob");
        let bob = bobs.min_by_key(|row| row.accepted).expect("bob asked");
        let before_bob = asked.iter().take_while(|(turn, _)| *turn != bob.turn.id);
        let meanwhile = before_bob.filter(|(_, at)| *at > bob.opened).count();
        assert!(meanwhile <= state.caps.running as usize, "seed {seed}: {meanwhile} came first");
    }
}

/// Runs seeds on all cores and reports the first that breaks a guarantee.
fn each_seed(count: u64, plan: fn(&mut SimRng) -> Plan) -> Tally {
    replay(plan);
    let next = AtomicU64::new(0);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return tally;
            }
            let sim = run(seed, plan, EventTrace::Off);
            let violations = sim.observations().violations.clone();
            assert!(violations.is_empty(), "seed {seed}: {violations:#?}");
            tally += Tally::of(&sim);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut tally = Tally::default();
        for thread in threads {
            tally += thread.join().expect("every seed holds");
        }
        tally
    })
}

/// Replays the requested seed and prints its trace, if one is requested.
fn replay(plan: fn(&mut SimRng) -> Plan) {
    if let Some(seed) = number("PILOTHOUSE_SIM_SEED") {
        let sim = run(seed, plan, EventTrace::Recorded);
        let trace = sim.trace().join("\n");
        panic!("{trace}\nseed {seed}: {:#?}", sim.observations().violations);
    }
}

fn run(seed: u64, plan: fn(&mut SimRng) -> Plan, trace: EventTrace) -> Arc<Simulation> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut rng = SimRng::new(seed);
        let plan = plan(&mut rng);
        let (caps, workers, faults) = (plan.caps, plan.workers, plan.faults.clone());
        let delegating = plan.delegating;
        let config = SimulationConfig {
            caps,
            lease: LEASE,
            workers,
            delegations_per_mille: delegating,
            faults,
        };
        let sim = Simulation::new(rng, config, trace);
        sim.trace_event(|| format!("seed {seed}: {plan:?}"));
        play(Fleet::start(&sim, plan)).await;
        checks::check_end(&sim);
        sim
    })
}

async fn play(fleet: Fleet) {
    let sim = &fleet.sim;
    let sessions: Vec<SessionId> = {
        let mut state = sim.backend.state();
        let owners = fleet.plan.sessions.iter();
        let mut create = |owner| state.create_session(owner, NewSession::default());
        owners.map(|owner| create(owner).expect("a session").id).collect()
    };
    let mut clients = FuturesUnordered::new();
    for (owner, session) in fleet.plan.sessions.iter().zip(&sessions) {
        for number in 0..fleet.plan.messages {
            let message = Message { fleet: &fleet, owner, session, number };
            clients.push(async move { message.send_and_follow().await });
        }
    }
    let answered = Cell::new(false);
    let all_answered = async {
        while clients.next().await.is_some() {}
        answered.set(true);
    };
    let all_settled = async { tokio::join!(all_answered, outside::report(&fleet, &answered)) };
    let mut mishaps = FuturesUnordered::new();
    for at in &fleet.plan.restarts {
        mishaps.push(fleet.restart_one(*at));
    }
    let restarts = async {
        while mishaps.next().await.is_some() {}
        std::future::pending::<()>().await
    };
    let purges = async {
        let mut times = fleet.plan.purges.clone();
        times.sort();
        for at in times {
            sleep(at.saturating_sub(sim.backend.now())).await;
            sim.trace_event(|| "the queue loses everything".into());
            sim.backend.state().queue.purge();
        }
        std::future::pending::<()>().await
    };
    tokio::select! {
        biased;
        _ = all_settled => {}
        () = sleep(fleet.plan.faults.ends_at + SETTLED) => checks::report_unsettled(sim),
        never = fleet.restart_dead() => match never {},
        () = restarts => {}
        () = purges => {}
        () = checks::watch(sim, fleet.plan.tree) => {}
    }
}

#[expect(clippy::disallowed_methods, reason = "a test has no configuration to read")]
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
