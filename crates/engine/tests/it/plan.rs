//! The scenario of one seed: clients, limits and the faults to inject.

use std::time::Duration;

use pilothouse_engine::EngineOptions;
use protocol::limits::{DelegationLimits, UserLimits};
use protocol::session::Owner;
use testkit::sim::{
    AffectedNodes, CallPhase, FaultSchedule, NodeFault, OutageKind, ServiceOutage, SimRng,
    SimService,
};

pub(crate) const LEASE: Duration = Duration::from_secs(3);
/// How long an operation may take.
const OPERATION_TIME: Duration = Duration::from_secs(15);

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) caps: UserLimits,
    pub(crate) processes: usize,
    /// Per process.
    pub(crate) workers: usize,
    pub(crate) tree: DelegationLimits,
    /// Per thousand calls, in addition to those the model makes at random.
    pub(crate) delegating: u64,
    pub(crate) sessions: Vec<Owner>,
    pub(crate) messages: u64,
    /// Latest time at which the messages of a session are sent.
    pub(crate) sent_within: Duration,
    pub(crate) faults: FaultSchedule,
    pub(crate) purges: Vec<Duration>,
    pub(crate) restarts: Vec<Duration>,
    /// Per thousand messages.
    pub(crate) cancelled: u64,
    /// How long a cancel may take, where there is a bound.
    pub(crate) cancelled_within: Option<Duration>,
    /// Per thousand processes.
    pub(crate) dying: u64,
    pub(crate) pausing: u64,
    pub(crate) sleeping: u64,
}

impl Plan {
    /// No faults.
    pub(crate) fn calm(rng: &mut SimRng) -> Self {
        let users = [Owner::User("ann".into()), Owner::User("bob".into()), Owner::Anonymous];
        let sessions = (0..2 + rng.below(4)).map(|n| users[n as usize % users.len()].clone());
        Self {
            caps: UserLimits {
                running: 1 + rng.below(3) as u32,
                in_flight: 4 + rng.below(8) as u32,
                executions: 25,
            },
            processes: 1 + rng.below(3) as usize,
            workers: *rng.pick(&[1, 2, 4]),
            tree: DelegationLimits {
                depth: 1 + rng.below(3) as u32,
                fan_out: 1 + rng.below(3) as u32,
            },
            delegating: 0,
            sessions: sessions.collect(),
            messages: 1 + rng.below(4),
            sent_within: rng.between(seconds(1), seconds(12)),
            faults: FaultSchedule::default(),
            purges: Vec::new(),
            restarts: Vec::new(),
            cancelled: *rng.pick(&[0, 100, 400]),
            cancelled_within: Some(seconds(1)),
            dying: 0,
            pausing: 0,
            sleeping: 0,
        }
    }

    /// One user has far more turns than may run, another has a single one, and there are few workers.
    pub(crate) fn crowded(rng: &mut SimRng) -> Self {
        let mut sessions = vec![Owner::User("ann".into()); 12];
        sessions.push(Owner::User("bob".into()));
        Self {
            caps: UserLimits { running: 2, in_flight: 15, executions: 25 },
            processes: 1,
            workers: 2,
            sessions,
            messages: 1,
            sent_within: seconds(4),
            cancelled: 0,
            ..Self::calm(rng)
        }
    }

    /// One worker, and one running turn per user: a waiting turn must release its permits for the turns it waits for.
    pub(crate) fn narrow(rng: &mut SimRng) -> Self {
        Self {
            caps: UserLimits { running: 1, in_flight: 15, executions: 25 },
            processes: 1,
            workers: 1,
            tree: DelegationLimits { depth: 3, fan_out: 3 },
            delegating: 500,
            ..Self::stormy(rng)
        }
    }

    /// No hint ever arrives: all changes must be found by polling.
    pub(crate) fn without_hints(rng: &mut SimRng) -> Self {
        let faults =
            FaultSchedule { ends_at: seconds(600), hint_lost: 1000, ..FaultSchedule::default() };
        // A renewal reports the cancel, and then the tool has its grace period.
        let cancelled_within = Some(LEASE / 3 + seconds(1));
        Self { faults, cancelled: 400, cancelled_within, ..Self::calm(rng) }
    }

    /// Each kind of fault is injected for some of the seeds, so that all combinations occur.
    pub(crate) fn stormy(rng: &mut SimRng) -> Self {
        let mut plan = Self::calm(rng);
        let until = rng.between(seconds(5), seconds(25));
        let mut some = |most: u64| if rng.chance(500) { 1 + rng.below(most) } else { 0 };
        plan.faults = FaultSchedule {
            ends_at: until,
            refused: some(120),
            reply_lost: some(120),
            delayed: some(60),
            slow: some(200),
            max_latency: Duration::from_millis(some(2500)),
            duplicated: some(300),
            reordered: some(300),
            hint_lost: some(1000),
            outages: Vec::new(),
        };
        plan.cancelled_within = None;
        plan.dying = some(1500);
        plan.pausing = some(900);
        plan.sleeping = some(400);
        let (outages, purges, restarts) = (some(4), some(3), some(3));
        plan.purges = (0..purges).map(|_| rng.up_to(until)).collect();
        plan.restarts = (0..restarts).map(|_| rng.up_to(until)).collect();
        plan.faults.outages = (0..outages).map(|_| outage(rng, until)).collect();
        plan
    }

    pub(crate) fn node_fault(&self, rng: &mut SimRng) -> NodeFault {
        let most = *rng.pick(&[20, 100, 500]);
        let at_call = 1 + rng.below(most);
        let phase = *rng.pick(&[CallPhase::Before, CallPhase::InFlight, CallPhase::After]);
        let (dies, pauses) = (rng.chance(self.dying), rng.chance(self.pausing));
        let sleeps = rng.chance(self.sleeping);
        let duration = rng.between(LEASE / 2, LEASE * 3);
        if dies {
            NodeFault::Crashes { at_call, phase }
        } else if pauses {
            NodeFault::Pauses { at_call, phase, duration }
        } else if sleeps {
            NodeFault::Suspends { at_call, phase, duration }
        } else {
            NodeFault::None
        }
    }
}

pub(crate) fn options(plan: &Plan) -> EngineOptions {
    EngineOptions {
        workers: plan.workers,
        lease: LEASE,
        renew: LEASE / 3,
        sweep: Duration::from_millis(500),
        poll: Duration::from_millis(200),
        max_tool_wait: seconds(3),
        tool_budget: seconds(3),
        operation_time: OPERATION_TIME,
        tree: plan.tree,
        max_steps: 6,
        max_time: seconds(40),
        model_tries: 3,
        // Jitter would not be derived from the seed; a base of zero has none.
        retry_base: Duration::ZERO,
        ..EngineOptions::default()
    }
}

fn outage(rng: &mut SimRng, until: Duration) -> ServiceOutage {
    let from = rng.up_to(until);
    ServiceOutage {
        service: *rng.pick(&[SimService::Store, SimService::Log, SimService::Queue]),
        nodes: if rng.chance(400) {
            AffectedNodes::All
        } else {
            AffectedNodes::Node(1 + rng.below(3) as u32)
        },
        kind: *rng.pick(&[OutageKind::Refused, OutageKind::NoReply]),
        from,
        to: from + rng.between(Duration::from_millis(200), LEASE * 2),
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}
