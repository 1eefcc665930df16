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
use testkit::sim::{Dice, Setting, Simulation, Story};
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
    assert!(tally.delegated > seeds / 2 && tally.parked > seeds / 2, "{tally:?}");
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
    let tally = each_seed(seeds, Plan::deaf);
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
        let story = || run(seed, Plan::stormy, Story::Told).story();
        let (first, second) = (story(), story());
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
        let sim = run(seed, Plan::crowded, Story::Untold);
        assert_eq!(sim.facts().violations, Vec::<String>::new(), "seed {seed}");
        let (state, asked) = (sim.world.state(), sim.facts().asked.clone());
        let bobs = state.turns.values().filter(|row| row.slot == "bob");
        let bob = bobs.min_by_key(|row| row.accepted).expect("bob asked");
        let before_bob = asked.iter().take_while(|(turn, _)| *turn != bob.turn.id);
        let meanwhile = before_bob.filter(|(_, at)| *at > bob.opened).count();
        assert!(meanwhile <= state.caps.running as usize, "seed {seed}: {meanwhile} came first");
    }
}

/// Runs seeds on all cores and reports the first that breaks a guarantee.
fn each_seed(count: u64, plan: fn(&mut Dice) -> Plan) -> Tally {
    replay(plan);
    let next = AtomicU64::new(0);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return tally;
            }
            let sim = run(seed, plan, Story::Untold);
            let violations = sim.facts().violations.clone();
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

/// Replays the requested seed and prints its story, if one is requested.
fn replay(plan: fn(&mut Dice) -> Plan) {
    if let Some(seed) = number("PILOTHOUSE_SIM_SEED") {
        let sim = run(seed, plan, Story::Told);
        let story = sim.story().join("\n");
        panic!("{story}\nseed {seed}: {:#?}", sim.facts().violations);
    }
}

fn run(seed: u64, plan: fn(&mut Dice) -> Plan, story: Story) -> Arc<Simulation> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut dice = Dice::new(seed);
        let plan = plan(&mut dice);
        let (caps, workers, weather) = (plan.caps, plan.workers, plan.weather.clone());
        let delegating = plan.delegating;
        let setting = Setting { caps, lease: LEASE, workers, delegating, weather };
        let sim = Simulation::new(dice, setting, story);
        sim.tell(|| format!("seed {seed}: {plan:?}"));
        play(Fleet::start(&sim, plan)).await;
        checks::check_end(&sim);
        sim
    })
}

async fn play(fleet: Fleet) {
    let sim = &fleet.sim;
    let sessions: Vec<SessionId> = {
        let mut state = sim.world.state();
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
            sleep(at.saturating_sub(sim.world.now())).await;
            sim.tell(|| "the queue loses everything".into());
            sim.world.state().line.purge();
        }
        std::future::pending::<()>().await
    };
    tokio::select! {
        biased;
        _ = all_settled => {}
        () = sleep(fleet.plan.weather.until + SETTLED) => checks::report_unsettled(sim),
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
