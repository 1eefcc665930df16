//! Check at every fenced write: a stale fence must change nothing.

use protocol::TurnId;

use super::Simulation;
use super::backend::BackendState;

/// Whether a write changed the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteEffect {
    Changed,
    Unchanged,
}

impl Simulation {
    /// Runs a fenced write and reports a violation when it succeeded although its fence was stale before the write.
    pub(crate) fn checked_fenced_write<T>(
        &self,
        backend: &mut BackendState,
        (turn, fence): (&TurnId, u64),
        write: impl FnOnce(&mut BackendState) -> T,
        effect_of: impl FnOnce(&T) -> WriteEffect,
    ) -> T {
        let stale = backend.turns.get(turn).is_some_and(|row| row.turn.fence != fence);
        let written = write(backend);
        match (stale, effect_of(&written)) {
            (false, _) => {}
            (true, WriteEffect::Unchanged) => self.observations().stale_writes += 1,
            (true, WriteEffect::Changed) => {
                self.report_violation(format!(
                    "G3: fence {fence} of {turn} is stale, but its write succeeded"
                ));
            }
        }
        written
    }
}
