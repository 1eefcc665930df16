//! The model of the world, held to the same laws as every backend: it cannot be wrong about the contract.

use std::sync::Arc;
use std::time::Duration;

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId};

use super::{Dice, Fate, Node, Setting, Simulation, Story, Weather};
use crate::conformance::{self, Fixture};

struct Calm {
    sim: Arc<Simulation>,
    node: Arc<Node>,
    ports: Ports,
}

impl Fixture for Calm {
    async fn start_with(caps: UserLimits) -> Self {
        let (lease, weather) = (Duration::from_secs(15), Weather::default());
        let setting = Setting { caps, lease, workers: 1, delegating: 0, weather };
        let sim = Simulation::new(Dice::new(1), setting, Story::Untold);
        let node = Node::start(&sim, Fate::Lives);
        let ports = node.ports();
        Self { sim, node, ports }
    }

    fn ports(&self) -> &Ports {
        &self.ports
    }

    async fn restart(&mut self) {
        self.node.die();
        self.node = Node::start(&self.sim, Fate::Lives);
        self.ports = self.node.ports();
    }

    async fn trim(&mut self, task: &TaskId, to: Seq) {
        self.sim.world.state().trim(task, to);
    }
}

conformance::engine!(Calm);
