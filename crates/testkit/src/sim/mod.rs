//! A seeded simulation of everything around the turn engine: the shared store, log and queue, the processes that use
//! them, a model and tools, and the faults between them. One seed is one history, to the letter: whoever runs it on a
//! current-thread runtime with a paused clock gets the same again.

mod absent;
mod bus;
mod completions;
mod dice;
mod facts;
mod fences;
mod follow_ups;
#[cfg(test)]
mod laws;
mod log;
mod model;
mod node;
mod operations;
mod places;
mod queue;
mod store;
mod tools;
mod weather;
mod wishes;
mod work;
pub mod world;

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use protocol::limits::UserLimits;
use tokio_util::task::TaskTracker;

pub use self::dice::Dice;
pub use self::facts::{Callback, Facts};
pub use self::model::SimModel;
pub use self::node::{Fate, Node, Side};
pub use self::tools::tools;
pub use self::weather::{Manner, Outage, Service, Weather, Whom};
use self::world::World;

pub struct Simulation {
    pub world: Arc<World>,
    pub weather: Weather,
    pub lease: Duration,
    pub workers: usize,
    delegating: u64,
    /// Requests that are still on their way.
    wire: TaskTracker,
    dice: Mutex<Dice>,
    facts: Mutex<Facts>,
    /// Every process that was ever started; the first has number 1.
    nodes: Mutex<Vec<Weak<Node>>>,
    story: Option<Mutex<Vec<String>>>,
}

/// Whether the simulation writes down what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Story {
    Told,
    Untold,
}

/// What a simulation is made with.
#[derive(Clone, Debug)]
pub struct Setting {
    pub caps: UserLimits,
    /// How long a claim lasts; processes are built with the same.
    pub lease: Duration,
    /// In each process.
    pub workers: usize,
    /// How many calls of a thousand start or look after a sub-session, whatever else the dice say.
    pub delegating: u64,
    pub weather: Weather,
}

impl Simulation {
    pub fn new(dice: Dice, setting: Setting, story: Story) -> Arc<Self> {
        Arc::new(Self {
            world: World::new(setting.caps),
            weather: setting.weather,
            lease: setting.lease,
            workers: setting.workers,
            delegating: setting.delegating,
            wire: TaskTracker::new(),
            dice: Mutex::new(dice),
            facts: Mutex::default(),
            nodes: Mutex::default(),
            story: (story == Story::Told).then(Mutex::default),
        })
    }

    pub fn dice(&self) -> MutexGuard<'_, Dice> {
        self.dice.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<Weak<Node>>> {
        self.nodes.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn longer_than_a_lease(&self) -> Duration {
        self.dice().between(self.lease, 3 * self.lease)
    }

    /// Something that must never happen has happened.
    pub fn violated(&self, what: String) {
        self.tell(|| format!("VIOLATED: {what}"));
        self.facts().violations.push(what);
    }

    pub fn tell(&self, what: impl FnOnce() -> String) {
        if let Some(story) = &self.story {
            let line = format!("{:9.3} {}", self.world.now().as_secs_f64(), what());
            story.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(line);
        }
    }

    /// What happened, line by line, if it was to be told.
    pub fn story(&self) -> Vec<String> {
        let Some(story) = &self.story else { return Vec::new() };
        let lines = story.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let names = self.world.state().names();
        let renamed = |line: &String| {
            names.iter().fold(line.clone(), |line, (id, name)| line.replace(id.as_str(), name))
        };
        lines.iter().map(renamed).collect()
    }
}
