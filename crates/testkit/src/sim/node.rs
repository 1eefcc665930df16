//! One process as the world sees it: every call it makes passes a gate, where it may be refused, delayed, done without
//! an answer, or be the last one it makes.

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use ports::{PortError, PortResult};
use tokio::sync::{broadcast, oneshot};
use tokio::time::Instant;

use super::Simulation;
use super::weather::{Manner, PATIENCE, Service};
use super::world::State;

/// What is not a fault: an answer that takes a moment.
const USUAL: Duration = Duration::from_millis(4);
const HINTS: usize = 256;

pub struct Node {
    pub number: u32,
    pub(super) sim: Arc<Simulation>,
    /// For what outlives a call, such as a delivery.
    pub(super) me: Weak<Self>,
    life: Mutex<Life>,
    pub(super) ear: broadcast::Sender<ports::BusSignal>,
}

struct Life {
    state: LifeState,
    calls: u64,
    fate: Fate,
}

#[derive(Clone, Copy)]
enum LifeState {
    Alive,
    PausedUntil(Instant),
    /// None of its calls ever returns. What it had in its hands goes back; its leases run out.
    Dead,
}

/// What will become of a process, counted in the calls it makes.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Lives,
    Dies {
        at_call: u64,
        side: Side,
    },
    /// Its calls wait, but its timers go on.
    Pauses {
        at_call: u64,
        side: Side,
        lasts: Duration,
    },
    /// Everything sleeps, as a machine does that is suspended: when it wakes, all its timers are late at once.
    Sleeps {
        at_call: u64,
        side: Side,
        lasts: Duration,
    },
}

/// When it meets a process, as seen from the call it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    /// The request is out, and will be carried out much later.
    Underway,
    After,
}

/// Whether this was the moment.
enum Met {
    Not,
    Fate,
    Sleep(Duration),
}

/// What the answer to one call will be like.
enum Answer {
    Heard(Duration),
    Unheard(Duration),
    /// It is done only after this.
    Late(Duration),
}

/// What is asked, for the story.
pub(super) struct Call {
    service: Service,
    name: &'static str,
    about: String,
}

impl Call {
    pub(super) fn new(service: Service, name: &'static str, about: impl ToString) -> Self {
        Self { service, name, about: about.to_string() }
    }
}

impl Node {
    pub fn start(sim: &Arc<Simulation>, fate: Fate) -> Arc<Self> {
        let mut nodes = sim.nodes();
        let number = nodes.len() as u32 + 1;
        sim.tell(|| format!("node {number} starts, {fate:?}"));
        let ear = broadcast::Sender::new(HINTS);
        let life = Mutex::new(Life { state: LifeState::Alive, calls: 0, fate });
        let node =
            Arc::new_cyclic(|me| Self { number, sim: sim.clone(), me: me.clone(), life, ear });
        nodes.push(node.me.clone());
        node
    }

    pub fn is_dead(&self) -> bool {
        matches!(self.life().state, LifeState::Dead)
    }

    /// Neither dead nor paused.
    pub(super) fn is_awake(&self) -> bool {
        match self.life().state {
            LifeState::Alive => true,
            LifeState::PausedUntil(until) => until <= Instant::now(),
            LifeState::Dead => false,
        }
    }

    pub fn die(&self) {
        self.life().state = LifeState::Dead;
        let mut state = self.sim.world.state();
        let now = state.now;
        state.line.give_back_all(self.number, now);
        state.arrivals.give_back_all(self.number);
        drop(state);
        self.sim.world.line_grew.notify_waiters();
        self.sim.world.arrived.notify_waiters();
        self.sim.tell(|| format!("node {} dies", self.number));
    }

    /// One call: what `effect` does is done as a whole, at one moment of the world.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        call: Call,
        effect: impl FnOnce(&mut State) -> PortResult<T> + Send + 'static,
        told: fn(&T) -> String,
    ) -> PortResult<T> {
        let answer = match (self.before(call.service).await?, self.fulfil(Side::Underway)) {
            (answer, Met::Not) => answer,
            (_, Met::Fate | Met::Sleep(_)) => Answer::Late(self.sim.longer_than_a_lease()),
        };
        let (service, sim, number) = (call.service, self.sim.clone(), self.number);
        let act = move || {
            let result = {
                let mut state = sim.world.state();
                let result = effect(&mut state);
                sim.check_places(&state);
                result
            };
            sim.tell(|| {
                let answer = result.as_ref().map_or_else(ToString::to_string, told);
                format!("node {number} {} {} {answer}", call.name, call.about)
            });
            result
        };
        if let Answer::Late(wait) = answer {
            return self.act_late(service, wait, act).await;
        }
        let result = act();
        self.after(service, answer).await?;
        result
    }

    /// A request that stays on the way for long: it is carried out whatever has become of the one who sent it.
    async fn act_late<T: Send + 'static>(
        &self,
        service: Service,
        wait: Duration,
        act: impl FnOnce() -> PortResult<T> + Send + 'static,
    ) -> PortResult<T> {
        let (answer, answered) = oneshot::channel();
        self.sim.wire.spawn(async move {
            tokio::time::sleep(wait).await;
            // Nobody may wait for it any more.
            let _ = answer.send(act());
        });
        let answered = tokio::time::timeout(PATIENCE, answered).await;
        self.alive().await;
        match answered {
            Ok(Ok(result)) => result,
            _ => Err(self.unavailable(service, "late")),
        }
    }

    /// Nothing of this process goes on while it is paused, and nothing ever when it is dead.
    pub(super) async fn alive(&self) {
        loop {
            let state = self.life().state;
            match state {
                LifeState::Alive => return,
                LifeState::PausedUntil(until) if until <= Instant::now() => return,
                LifeState::PausedUntil(until) => tokio::time::sleep_until(until).await,
                LifeState::Dead => std::future::pending().await,
            }
        }
    }

    /// The gate of work that is not a call of the store: it takes part in the process's fate.
    pub(super) async fn step(&self) {
        self.meet_fate(Side::Before).await;
    }

    async fn before(&self, service: Service) -> PortResult<Answer> {
        self.alive().await;
        self.meet_fate(Side::Before).await;
        let now = self.sim.world.now();
        let weather = &self.sim.weather;
        if weather.is_over(now) {
            let usual = self.sim.dice().up_to(USUAL);
            return Ok(Answer::Heard(usual));
        }
        if let Some(outage) = weather.outage(service, self.number, now) {
            return self.meet_outage(service, outage.manner).await;
        }
        let (fate, wait) = {
            let mut dice = self.sim.dice();
            let longest = if dice.chance(weather.slow) { weather.slowest } else { USUAL };
            (dice.below(1000), dice.up_to(longest))
        };
        if fate < weather.refused {
            self.pass_time(wait).await;
            return Err(self.unavailable(service, "refused"));
        }
        if fate < weather.refused + weather.unheard {
            return Ok(Answer::Unheard(wait));
        }
        if fate < weather.refused + weather.unheard + weather.late {
            let wait = self.sim.dice().up_to(2 * self.sim.lease);
            return Ok(Answer::Late(wait));
        }
        // Half of a wait is on the way there.
        self.pass_time(wait / 2).await;
        Ok(Answer::Heard(wait / 2))
    }

    async fn meet_outage(&self, service: Service, manner: Manner) -> PortResult<Answer> {
        match manner {
            Manner::Refuses => {
                self.pass_time(Duration::from_millis(1)).await;
                Err(self.unavailable(service, "away"))
            }
            // The request may have come through and only the answer be lost.
            Manner::Hangs if self.sim.dice().chance(100) => Ok(Answer::Unheard(PATIENCE)),
            Manner::Hangs => {
                self.pass_time(PATIENCE).await;
                Err(self.unavailable(service, "silent"))
            }
        }
    }

    async fn after(&self, service: Service, answer: Answer) -> PortResult<()> {
        self.meet_fate(Side::After).await;
        match answer {
            Answer::Heard(wait) => {
                self.pass_time(wait).await;
                Ok(())
            }
            Answer::Unheard(wait) | Answer::Late(wait) => {
                self.pass_time(wait).await;
                Err(self.unavailable(service, "unheard"))
            }
        }
    }

    async fn pass_time(&self, wait: Duration) {
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
            self.alive().await;
        }
    }

    fn unavailable(&self, service: Service, how: &str) -> PortError {
        self.sim.tell(|| format!("node {} {service:?} {how}", self.number));
        PortError::Unavailable(format!("{service:?} {how}"))
    }

    async fn meet_fate(&self, now: Side) {
        if let Met::Sleep(asleep) = self.fulfil(now) {
            self.sim.facts().woke = self.sim.world.now() + asleep;
            tokio::time::advance(asleep).await;
        }
        self.alive().await;
    }

    fn fulfil(&self, now: Side) -> Met {
        if self.sim.weather.is_over(self.sim.world.now()) {
            return Met::Not;
        }
        let mut life = self.life();
        if !matches!(life.state, LifeState::Alive) {
            return Met::Not;
        }
        if now == Side::Before {
            life.calls += 1;
        }
        match life.fate {
            Fate::Dies { at_call, side } if side == now && life.calls == at_call => {
                drop(life);
                self.die();
                Met::Fate
            }
            Fate::Pauses { at_call, side, lasts } if side == now && life.calls == at_call => {
                life.state = LifeState::PausedUntil(Instant::now() + lasts);
                life.fate = Fate::Lives;
                drop(life);
                self.sim.tell(|| format!("node {} stands still for {lasts:?}", self.number));
                Met::Fate
            }
            Fate::Sleeps { at_call, side, lasts } if side == now && life.calls == at_call => {
                life.fate = Fate::Lives;
                drop(life);
                self.sim.tell(|| format!("everything sleeps for {lasts:?}"));
                Met::Sleep(lasts)
            }
            _ => Met::Not,
        }
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
