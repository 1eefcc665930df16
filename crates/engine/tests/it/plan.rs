//! The scenario of one seed: clients, limits and the faults to inject.

use std::time::Duration;

use pilothouse_engine::EngineOptions;
use protocol::limits::{DelegationLimits, UserLimits};
use protocol::session::Owner;
use testkit::sim::{Dice, Fate, Manner, Outage, Service, Side, Weather, Whom};

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
    pub(crate) weather: Weather,
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
    pub(crate) fn calm(dice: &mut Dice) -> Self {
        let users = [Owner::User("ann".into()), Owner::User("bob".into()), Owner::Anonymous];
        let sessions = (0..2 + dice.below(4)).map(|n| users[n as usize % users.len()].clone());
        Self {
            caps: UserLimits {
                running: 1 + dice.below(3) as u32,
                in_flight: 4 + dice.below(8) as u32,
                executions: 25,
            },
            processes: 1 + dice.below(3) as usize,
            workers: *dice.pick(&[1, 2, 4]),
            tree: DelegationLimits {
                depth: 1 + dice.below(3) as u32,
                fan_out: 1 + dice.below(3) as u32,
            },
            delegating: 0,
            sessions: sessions.collect(),
            messages: 1 + dice.below(4),
            sent_within: dice.between(seconds(1), seconds(12)),
            weather: Weather::default(),
            purges: Vec::new(),
            restarts: Vec::new(),
            cancelled: *dice.pick(&[0, 100, 400]),
            cancelled_within: Some(seconds(1)),
            dying: 0,
            pausing: 0,
            sleeping: 0,
        }
    }

    /// One user has far more turns than may run, another has a single one, and there are few workers.
    pub(crate) fn crowded(dice: &mut Dice) -> Self {
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
            ..Self::calm(dice)
        }
    }

    /// One worker, and one running turn per user: a waiting turn must release its permits for the turns it waits for.
    pub(crate) fn narrow(dice: &mut Dice) -> Self {
        Self {
            caps: UserLimits { running: 1, in_flight: 15, executions: 25 },
            processes: 1,
            workers: 1,
            tree: DelegationLimits { depth: 3, fan_out: 3 },
            delegating: 500,
            ..Self::stormy(dice)
        }
    }

    /// No hint ever arrives: all changes must be found by polling.
    pub(crate) fn deaf(dice: &mut Dice) -> Self {
        let weather = Weather { until: seconds(600), unhinted: 1000, ..Weather::default() };
        // A renewal reports the cancel, and then the tool has its grace period.
        let cancelled_within = Some(LEASE / 3 + seconds(1));
        Self { weather, cancelled: 400, cancelled_within, ..Self::calm(dice) }
    }

    /// Each kind of fault is injected for some of the seeds, so that all combinations occur.
    pub(crate) fn stormy(dice: &mut Dice) -> Self {
        let mut plan = Self::calm(dice);
        let until = dice.between(seconds(5), seconds(25));
        let mut some = |most: u64| if dice.chance(500) { 1 + dice.below(most) } else { 0 };
        plan.weather = Weather {
            until,
            refused: some(120),
            unheard: some(120),
            late: some(60),
            slow: some(200),
            slowest: Duration::from_millis(some(2500)),
            repeated: some(300),
            reordered: some(300),
            unhinted: some(1000),
            outages: Vec::new(),
        };
        plan.cancelled_within = None;
        plan.dying = some(1500);
        plan.pausing = some(900);
        plan.sleeping = some(400);
        let (outages, purges, restarts) = (some(4), some(3), some(3));
        plan.purges = (0..purges).map(|_| dice.up_to(until)).collect();
        plan.restarts = (0..restarts).map(|_| dice.up_to(until)).collect();
        plan.weather.outages = (0..outages).map(|_| outage(dice, until)).collect();
        plan
    }

    pub(crate) fn fate(&self, dice: &mut Dice) -> Fate {
        let most = *dice.pick(&[20, 100, 500]);
        let at_call = 1 + dice.below(most);
        let side = *dice.pick(&[Side::Before, Side::Underway, Side::After]);
        let (dies, pauses) = (dice.chance(self.dying), dice.chance(self.pausing));
        let sleeps = dice.chance(self.sleeping);
        let lasts = dice.between(LEASE / 2, LEASE * 3);
        if dies {
            Fate::Dies { at_call, side }
        } else if pauses {
            Fate::Pauses { at_call, side, lasts }
        } else if sleeps {
            Fate::Sleeps { at_call, side, lasts }
        } else {
            Fate::Lives
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

fn outage(dice: &mut Dice, until: Duration) -> Outage {
    let from = dice.up_to(until);
    Outage {
        service: *dice.pick(&[Service::Store, Service::Log, Service::Queue]),
        whom: if dice.chance(400) { Whom::All } else { Whom::Node(1 + dice.below(3) as u32) },
        manner: *dice.pick(&[Manner::Refuses, Manner::Hangs]),
        from,
        to: from + dice.between(Duration::from_millis(200), LEASE * 2),
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}
