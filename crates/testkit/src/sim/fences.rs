//! What a fence is for, checked at every write: whoever comes with an old one changes nothing.

use protocol::TurnId;

use super::Simulation;
use super::world::State;

/// Whether a write has changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrote {
    Something,
    Nothing,
}

impl Simulation {
    /// Carries out a write under a fence and judges it by what the row said before.
    pub(super) fn under_fence<T>(
        &self,
        world: &mut State,
        (turn, fence): (&TurnId, u64),
        write: impl FnOnce(&mut State) -> T,
        wrote: impl FnOnce(&T) -> Wrote,
    ) -> T {
        let stale = world.turns.get(turn).is_some_and(|row| row.turn.fence != fence);
        let written = write(world);
        match (stale, wrote(&written)) {
            (false, _) => {}
            (true, Wrote::Nothing) => self.facts().stale_writes += 1,
            (true, Wrote::Something) => {
                self.violated(format!("G3: fence {fence} of {turn} is old and was written under"));
            }
        }
        written
    }
}
