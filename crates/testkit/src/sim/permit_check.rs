//! Check after every port call: no user has more turns with a concurrency permit than the limit allows.

use std::collections::BTreeMap;

use super::Simulation;
use super::backend::BackendState;

impl Simulation {
    pub(crate) fn check_permits(&self, state: &BackendState) {
        let mut taken: BTreeMap<&str, u32> = BTreeMap::new();
        for row in state.turns.values().filter(|row| row.is_open() && row.has_permit()) {
            *taken.entry(&row.quota_key).or_default() += 1;
        }
        for (quota_key, taken) in taken {
            if taken > state.caps.running {
                self.report_violation(format!("G8: {taken} turns of {quota_key} have a permit"));
            }
        }
    }
}
