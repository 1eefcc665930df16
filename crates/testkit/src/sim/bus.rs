//! Hints between processes: all, some or none of them arrive.

use jiff::Timestamp;
use ports::{Bus, BusSignal, Clock};
use tokio::sync::broadcast;

use super::node::Node;

impl Bus for Node {
    fn publish(&self, signal: BusSignal) {
        if self.is_dead() {
            return;
        }
        let weather = &self.sim.weather;
        let bad = !weather.is_over(self.sim.world.now());
        for node in self.sim.nodes().iter() {
            let lost = bad && self.sim.dice().chance(weather.unhinted);
            if let Some(node) = node.upgrade().filter(|_| !lost) {
                // Nobody listens: nobody wanted the hint.
                let _ = node.ear.send(signal.clone());
            }
        }
    }

    fn subscribe(&self) -> broadcast::Receiver<BusSignal> {
        self.ear.subscribe()
    }
}

impl Clock for Node {
    fn now(&self) -> Timestamp {
        self.sim.world.state().wall()
    }
}
