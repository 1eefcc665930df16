//! Background calls in the journal.

use std::collections::BTreeSet;

use ports::store::{BackgroundEnd, BackgroundRecord, JournalEntry, JournalRecord, JournaledCall};
use ports::{PortError, PortResult};
use protocol::message::ToolOutcome;
use protocol::turn::TurnClaim;
use protocol::{BackgroundId, CallId, TurnId};

use super::BackendState;

/// The result of a background call whose turn ended first.
const CANCELLED: &str = r#"{"type":"error","error":"cancelled","message":"The turn has ended."}"#;

impl BackendState {
    pub(crate) fn move_to_background(&mut self, turn: &TurnId, call: &CallId, id: &BackgroundId) {
        if let Some(journaled) = self.journaled(turn, call) {
            journaled.background =
                Some(BackgroundRecord { id: id.clone(), end: None, taken: false });
        }
    }

    pub(crate) fn end_background_call(
        &mut self,
        turn: &TurnId,
        call: &CallId,
        end: &BackgroundEnd,
    ) {
        if let Some(background) =
            self.journaled(turn, call).and_then(|call| call.background.as_mut())
        {
            background.end.get_or_insert_with(|| end.clone());
        }
    }

    pub(crate) fn take_background_call(&mut self, turn: &TurnId, call: &CallId) {
        if let Some(background) =
            self.journaled(turn, call).and_then(|call| call.background.as_mut())
        {
            background.taken = true;
        }
    }

    pub(crate) fn end_all_background_calls(&mut self, turn: &TurnId) {
        let Some(row) = self.turns.get_mut(turn) else { return };
        for background in row.calls.iter_mut().filter_map(|call| call.background.as_mut()) {
            background.end.get_or_insert_with(|| BackgroundEnd {
                outcome: ToolOutcome::Cancelled,
                output: CANCELLED.to_owned(),
            });
        }
    }

    fn journaled(&mut self, turn: &TurnId, call: &CallId) -> Option<&mut JournaledCall> {
        let row = self.turns.get_mut(turn)?;
        row.calls.iter_mut().find(|journaled| journaled.call_id == *call)
    }

    /// Refuses background entries for a call without an intent, and background ends for a call that is not in the
    /// background.
    pub(crate) fn refuse_unknown_calls(
        &self,
        claim: &TurnClaim,
        record: &JournalRecord,
    ) -> PortResult<()> {
        let row = &self.turns[&claim.turn_id];
        let (mut journaled, mut background) = (BTreeSet::new(), BTreeSet::new());
        journaled.extend(row.calls.iter().map(|call| &call.call_id));
        let in_background = row.calls.iter().filter(|call| call.background.is_some());
        background.extend(in_background.map(|call| &call.call_id));
        for entry in &record.entries {
            let known = match entry {
                JournalEntry::Intent { call_id, .. } => {
                    journaled.insert(call_id);
                    true
                }
                JournalEntry::MovedToBackground { call_id, .. } => {
                    background.insert(call_id);
                    journaled.contains(call_id)
                }
                JournalEntry::BackgroundEnded { call_id, .. }
                | JournalEntry::BackgroundTaken { call_id } => background.contains(call_id),
                JournalEntry::Message(_)
                | JournalEntry::Result(_)
                | JournalEntry::StepEnded { .. } => true,
            };
            if !known {
                return Err(PortError::Broken("the journal has no such call".into()));
            }
        }
        Ok(())
    }
}
