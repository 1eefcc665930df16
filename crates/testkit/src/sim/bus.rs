//! `Bus` and `Clock` of a node. Signals reach all, some or none of the nodes.

use jiff::Timestamp;
use ports::{Bus, BusSignal, Clock};
use tokio::sync::broadcast;

use super::node::SimNode;

impl Bus for SimNode {
    fn publish(&self, signal: BusSignal) {
        if self.is_crashed() {
            return;
        }
        let faults = &self.sim.faults;
        let bad = !faults.has_ended(self.sim.backend.now());
        for node in self.sim.nodes().iter() {
            let lost = bad && self.sim.rng().chance(faults.hint_lost);
            if let Some(node) = node.upgrade().filter(|_| !lost) {
                // Fails when the node has no subscriber.
                let _ = node.signals.send(signal.clone());
            }
        }
    }

    fn subscribe(&self) -> broadcast::Receiver<BusSignal> {
        self.signals.subscribe()
    }
}

impl Clock for SimNode {
    fn now(&self) -> Timestamp {
        self.sim.backend.state().wall()
    }
}
