//! What a user's places are for, checked at every change: no more turns have one than may run.

use std::collections::BTreeMap;

use super::Simulation;
use super::world::State;

impl Simulation {
    pub(super) fn check_places(&self, state: &State) {
        let mut taken: BTreeMap<&str, u32> = BTreeMap::new();
        for row in state.turns.values().filter(|row| row.is_open() && row.has_place()) {
            *taken.entry(&row.slot).or_default() += 1;
        }
        for (slot, taken) in taken {
            if taken > state.caps.running {
                self.violated(format!("G8: {taken} turns of {slot} have a place"));
            }
        }
    }
}
