//! Runs the conformance suite against the simulated backend, so that it keeps the same contract as the real ones.

use std::sync::Arc;
use std::time::Duration;

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId};

use super::{EventTrace, FaultSchedule, NodeFault, SimNode, SimRng, Simulation, SimulationConfig};
use crate::conformance::job_scene::JobKind;
use crate::conformance::{self, BackendFixture};

struct FaultFreeFixture {
    sim: Arc<Simulation>,
    node: Arc<SimNode>,
    ports: Ports,
}

impl BackendFixture for FaultFreeFixture {
    // The simulation has no executions.
    const JOB_KINDS: &[JobKind] = &[JobKind::Turn];

    async fn start_with(caps: UserLimits) -> Self {
        let (lease, faults) = (Duration::from_secs(15), FaultSchedule::default());
        let config = SimulationConfig { caps, lease, workers: 1, delegations_per_mille: 0, faults };
        let sim = Simulation::new(SimRng::new(1), config, EventTrace::Off);
        let node = SimNode::start(&sim, NodeFault::None);
        let ports = node.ports();
        Self { sim, node, ports }
    }

    fn ports(&self) -> &Ports {
        &self.ports
    }

    async fn restart(&mut self) {
        self.node.crash();
        self.node = SimNode::start(&self.sim, NodeFault::None);
        self.ports = self.node.ports();
    }

    async fn trim(&mut self, task: &TaskId, to: Seq) {
        self.sim.backend.state().trim(task, to);
    }
}

conformance::engine!(FaultFreeFixture);
