//! Deterministic simulation of everything around the turn engine: the shared store, logs and queue, the processes that
//! use them, a model, tools, and faults between them. On a current-thread runtime with a paused clock, the same seed
//! always produces the same sequence of events.
//!
//! | term | meaning |
//! |---|---|
//! | node ([`SimNode`]) | one simulated server process; it implements the ports |
//! | backend ([`backend::SimBackend`]) | the state all nodes share: store, stream logs, queue, completion messages |
//! | port call | one call of a node to the backend; faults are injected here |
//! | fault schedule ([`FaultSchedule`]) | probability of each fault per port call, and the outages of whole services |
//! | outage ([`ServiceOutage`]) | a period in which a service is unreachable for one node or for all |
//! | node fault ([`NodeFault`]) | a crash, a pause of one node, or a suspension of everything, at a given port call |
//! | fault point | a place in a model call or tool call where a node fault can occur |
//! | observations ([`SimObservations`]) | what happened outside the store: renewals, calls, effects, violations |
//! | active call | a model call or tool call that is running now |
//! | violation | a guarantee (`G…`, `L…`) that did not hold |
//! | trace | the recorded events of one run, for reading a failed seed |
//! | label | a stable name (`turn-0007`) that replaces a random id in the trace |

mod active_calls;
pub mod backend;
mod bus;
mod completions;
#[cfg(test)]
mod conformance_tests;
mod fault_schedule;
mod fence_check;
mod follow_ups;
mod jobs;
mod log;
mod model;
mod node;
mod observations;
mod operations;
mod permit_check;
mod queue;
mod rng;
mod store;
mod tool_arguments;
mod tools;
mod unsupported;

use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use protocol::limits::UserLimits;
use tokio_util::task::TaskTracker;

use self::backend::SimBackend;
pub use self::fault_schedule::{
    AffectedNodes, FaultSchedule, OutageKind, ServiceOutage, SimService,
};
pub use self::model::SimModel;
pub use self::node::{CallPhase, NodeFault, SimNode};
pub use self::observations::{OperationCallback, SimObservations};
pub use self::rng::SimRng;
pub use self::tools::tools;

pub struct Simulation {
    pub backend: Arc<SimBackend>,
    pub faults: FaultSchedule,
    pub lease: Duration,
    pub workers: usize,
    delegations_per_mille: u64,
    /// Requests that take effect after their caller stopped waiting.
    delayed_requests: TaskTracker,
    rng: Mutex<SimRng>,
    observations: Mutex<SimObservations>,
    /// Every node that was ever started; the first has number 1.
    nodes: Mutex<Vec<Weak<SimNode>>>,
    trace: Option<Mutex<Vec<String>>>,
}

/// Whether the simulation records a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTrace {
    Recorded,
    Off,
}

/// The parameters of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationConfig {
    pub caps: UserLimits,
    /// Duration of a claim; the engines of the nodes use the same value.
    pub lease: Duration,
    /// Workers per node.
    pub workers: usize,
    /// Tool calls per thousand that are forced to be `delegate`.
    pub delegations_per_mille: u64,
    pub faults: FaultSchedule,
}

impl Simulation {
    pub fn new(rng: SimRng, config: SimulationConfig, trace: EventTrace) -> Arc<Self> {
        Arc::new(Self {
            backend: SimBackend::new(config.caps),
            faults: config.faults,
            lease: config.lease,
            workers: config.workers,
            delegations_per_mille: config.delegations_per_mille,
            delayed_requests: TaskTracker::new(),
            rng: Mutex::new(rng),
            observations: Mutex::default(),
            nodes: Mutex::default(),
            trace: (trace == EventTrace::Recorded).then(Mutex::default),
        })
    }

    pub fn rng(&self) -> MutexGuard<'_, SimRng> {
        self.rng.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn observations(&self) -> MutexGuard<'_, SimObservations> {
        self.observations.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn nodes(&self) -> MutexGuard<'_, Vec<Weak<SimNode>>> {
        self.nodes.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn longer_than_a_lease(&self) -> Duration {
        self.rng().between(self.lease, 3 * self.lease)
    }

    /// Records that a guarantee did not hold.
    pub fn report_violation(&self, what: String) {
        self.trace_event(|| format!("VIOLATED: {what}"));
        self.observations().violations.push(what);
    }

    pub fn trace_event(&self, what: impl FnOnce() -> String) {
        if let Some(trace) = &self.trace {
            let line = format!("{:9.3} {}", self.backend.now().as_secs_f64(), what());
            trace.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(line);
        }
    }

    /// The recorded events, one per line; empty when the trace is off.
    pub fn trace(&self) -> Vec<String> {
        let Some(trace) = &self.trace else { return Vec::new() };
        let lines = trace.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let labels = self.backend.state().labels();
        let renamed = |line: &String| {
            labels.iter().fold(line.clone(), |line, (id, name)| line.replace(id.as_str(), name))
        };
        lines.iter().map(renamed).collect()
    }
}
