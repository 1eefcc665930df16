//! The processes of a simulation: started, and restarted when they die.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use pilothouse_engine::{Engine, EngineRoles};
use ports::Ports;
use testkit::sim::{NodeFault, SimModel, SimNode, Simulation, tools};

use crate::plan::{Plan, options};

/// Longest time before a dead process is restarted.
const RESTART_DELAY: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) struct Fleet {
    pub(crate) sim: Arc<Simulation>,
    pub(crate) plan: Plan,
    processes: Mutex<Vec<Arc<Process>>>,
}

pub(crate) struct Process {
    pub(crate) engine: Engine,
    pub(crate) ports: Ports,
    node: Arc<SimNode>,
}

impl Fleet {
    pub(crate) fn start(sim: &Arc<Simulation>, plan: Plan) -> Self {
        let processes = (0..plan.processes).map(|_| Process::start(sim, &plan)).collect();
        Self { sim: sim.clone(), plan, processes: Mutex::new(processes) }
    }

    /// Any process, dead or alive: a client cannot tell.
    pub(crate) fn any(&self) -> Arc<Process> {
        let processes = self.processes();
        let chosen = self.sim.rng().below(processes.len() as u64);
        processes[chosen as usize].clone()
    }

    /// Restarts dead processes after a while.
    pub(crate) async fn restart_dead(&self) -> Infallible {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let dead: Vec<usize> = {
                let processes = self.processes();
                (0..processes.len()).filter(|place| processes[*place].node.is_crashed()).collect()
            };
            for place in dead {
                let missed = self.sim.rng().up_to(RESTART_DELAY);
                tokio::time::sleep(missed).await;
                self.replace(place);
            }
        }
    }

    /// Restarts one process as an upgrade would: shut down, waited for, replaced.
    pub(crate) async fn restart_one(&self, at: Duration) {
        tokio::time::sleep(at).await;
        let chosen = self.any();
        self.sim.trace_event(|| format!("node {} is told to stop", chosen.node.number));
        chosen.engine.shutdown().await;
        chosen.node.crash();
    }

    fn replace(&self, place: usize) {
        let new = Process::start(&self.sim, &self.plan);
        self.processes()[place] = new;
    }

    fn processes(&self) -> MutexGuard<'_, Vec<Arc<Process>>> {
        self.processes.lock().expect("no code panics while it holds this lock")
    }
}

impl Process {
    fn start(sim: &Arc<Simulation>, plan: &Plan) -> Arc<Self> {
        let node_fault: NodeFault = plan.node_fault(&mut sim.rng());
        let node = SimNode::start(sim, node_fault);
        let ports = node.ports();
        let (model, tools) = (SimModel::of(&node), tools(&node));
        let engine = Engine::new(ports.clone(), model, tools, Vec::new(), options(plan));
        engine.start(EngineRoles::ALL);
        Arc::new(Self { engine, ports, node })
    }
}
