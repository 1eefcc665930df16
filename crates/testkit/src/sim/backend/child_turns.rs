//! Turns started by calls of other turns: their limit, and the cancel that reaches all of them.

use std::collections::BTreeSet;

use ports::store::{ParentTurn, TurnOpened};
use protocol::session::Owner;
use protocol::turn::Turn;
use protocol::{SessionId, TurnId};

use super::BackendState;

impl BackendState {
    /// Why this parent may not start another turn now, or `None` if it may.
    pub(crate) fn refused_by_parent(&self, parent: &ParentTurn) -> Option<TurnOpened> {
        let running = self.turns.get(&parent.turn).is_some_and(|row| row.is_open());
        if !running || self.turns[&parent.turn].turn.cancel_requested {
            return Some(TurnOpened::ParentEnded);
        }
        let children = self.turns.values().filter(|row| {
            let of_parent = row.turn.parent.as_ref() == Some(&parent.turn);
            of_parent && row.turn.operation.is_none() && row.is_open()
        });
        (children.count() >= parent.fan_out as usize).then_some(TurnOpened::TooManyChildren)
    }

    pub fn request_cancel(&mut self, owner: &Owner, session: &SessionId) -> Vec<Turn> {
        if self.session(owner, session).is_none() {
            return Vec::new();
        }
        let of_session = self.turns.values().filter(|row| row.turn.session_id == *session);
        let mut level: Vec<TurnId> = of_session.map(|row| row.turn.id.clone()).collect();
        let mut seen: BTreeSet<TurnId> = BTreeSet::new();
        let mut marked = Vec::new();
        while !level.is_empty() {
            level.sort_by_key(|id| self.turns[id].accepted);
            seen.extend(level.iter().cloned());
            marked.extend(level.iter().filter_map(|id| self.mark(id)));
            // Includes the children of ended turns: they may still be running.
            let children = self.turns.values().filter(|row| {
                let parent = row.turn.parent.as_ref();
                parent.is_some_and(|parent| level.contains(parent)) && !seen.contains(&row.turn.id)
            });
            level = children.map(|row| row.turn.id.clone()).collect();
        }
        marked
    }

    fn mark(&mut self, id: &TurnId) -> Option<Turn> {
        let now = self.now;
        let row = self.turns.get_mut(id).filter(|row| row.is_open())?;
        row.turn.cancel_requested = true;
        row.cancelled.get_or_insert(now);
        // A turn that waits for external work would not become due otherwise.
        if row.external_work_until.take().is_some() {
            row.due = Some(now);
        }
        Some(self.visible_turn(&self.turns[id]))
    }
}
