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
    pub(crate) fn park(&mut self, turn: &TurnId, call: &CallId, id: &BackgroundId) {
        if let Some(journaled) = self.journaled(turn, call) {
            journaled.parked = Some(BackgroundRecord { id: id.clone(), end: None, taken: false });
        }
    }

    pub(crate) fn end_parked(&mut self, turn: &TurnId, call: &CallId, end: &BackgroundEnd) {
        if let Some(parked) = self.journaled(turn, call).and_then(|call| call.parked.as_mut()) {
            parked.end.get_or_insert_with(|| end.clone());
        }
    }

    pub(crate) fn take_parked(&mut self, turn: &TurnId, call: &CallId) {
        if let Some(parked) = self.journaled(turn, call).and_then(|call| call.parked.as_mut()) {
            parked.taken = true;
        }
    }

    pub(crate) fn end_all_parked(&mut self, turn: &TurnId) {
        let Some(row) = self.turns.get_mut(turn) else { return };
        for parked in row.calls.iter_mut().filter_map(|call| call.parked.as_mut()) {
            parked.end.get_or_insert_with(|| BackgroundEnd {
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
        let (mut journaled, mut parked) = (BTreeSet::new(), BTreeSet::new());
        journaled.extend(row.calls.iter().map(|call| &call.call_id));
        let in_background = row.calls.iter().filter(|call| call.parked.is_some());
        parked.extend(in_background.map(|call| &call.call_id));
        for entry in &record.entries {
            let known = match entry {
                JournalEntry::Intent { call_id, .. } => {
                    journaled.insert(call_id);
                    true
                }
                JournalEntry::Parked { call_id, .. } => {
                    parked.insert(call_id);
                    journaled.contains(call_id)
                }
                JournalEntry::ParkedEnded { call_id, .. }
                | JournalEntry::ParkedTaken { call_id } => parked.contains(call_id),
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
