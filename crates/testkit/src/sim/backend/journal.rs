//! Journal records of a running turn, written under its claim.

use std::collections::BTreeSet;

use ports::store::{JournalEntry, JournalRecord, JournaledCall};
use ports::{Fenced, PortError, PortResult};
use protocol::message::NewMessage;
use protocol::tool::ToolEffect;
use protocol::turn::TurnClaim;
use protocol::usage::Usage;
use protocol::{CallId, MessageId, TurnId};

use super::BackendState;

impl BackendState {
    pub fn record(&mut self, claim: &TurnClaim, record: &JournalRecord) -> PortResult<Fenced<()>> {
        let Some(row) = self.claimed_row(claim) else { return Ok(Fenced::Stale) };
        if row.last_record.as_ref() == Some(&record.id) {
            return Ok(Fenced::Done(()));
        }
        // Check everything before changing anything.
        let rows = record.entries.iter().filter_map(|entry| match entry {
            JournalEntry::Message(row) | JournalEntry::Result(row) => Some(row),
            _ => None,
        });
        self.refuse_second_rows(claim, rows)?;
        self.refuse_unknown_calls(claim, record)?;
        for entry in &record.entries {
            match entry {
                JournalEntry::Message(message) | JournalEntry::Result(message) => {
                    self.insert_message(&claim.turn_id, message);
                }
                JournalEntry::Intent { call_id, effect } => {
                    self.intend(&claim.turn_id, call_id, *effect)
                }
                JournalEntry::StepEnded { usage } => {
                    if let Some(row) = self.turns.get_mut(&claim.turn_id) {
                        row.steps_done += 1;
                    }
                    self.add_usage(claim, *usage);
                }
                JournalEntry::MovedToBackground { call_id, id } => {
                    self.move_to_background(&claim.turn_id, call_id, id)
                }
                JournalEntry::BackgroundEnded { call_id, end } => {
                    self.end_background_call(&claim.turn_id, call_id, end);
                }
                JournalEntry::BackgroundTaken { call_id } => {
                    self.take_background_call(&claim.turn_id, call_id)
                }
            }
        }
        if let Some(row) = self.turns.get_mut(&claim.turn_id) {
            row.last_record = Some(record.id.clone());
        }
        Ok(Fenced::Done(()))
    }

    /// Refuses a second row with the same id and a second result for the same call, so that a record repeated much
    /// later changes nothing.
    pub(crate) fn refuse_second_rows<'a>(
        &self,
        claim: &TurnClaim,
        new: impl Iterator<Item = &'a NewMessage>,
    ) -> PortResult<()> {
        let rows = self.sessions[&claim.session_id].messages.iter().map(|row| &row.message);
        let mut known: BTreeSet<&MessageId> = rows.clone().map(|row| &row.id).collect();
        let mine = rows.filter(|row| row.turn_id == claim.turn_id);
        let mut answered: BTreeSet<&CallId> =
            mine.filter_map(|row| row.tool_call_id.as_ref()).collect();
        for row in new {
            let second = row.tool_call_id.as_ref().is_some_and(|call| !answered.insert(call));
            if second || !known.insert(&row.id) {
                return Err(PortError::Broken("the row or the result already exists".into()));
            }
        }
        Ok(())
    }

    fn intend(&mut self, turn: &TurnId, call: &CallId, effect: ToolEffect) {
        let Some(row) = self.turns.get_mut(turn) else { return };
        match row.calls.iter_mut().find(|journaled| journaled.call_id == *call) {
            Some(journaled) => {
                journaled.effect = effect;
                journaled.starts += 1;
            }
            None => {
                let call_id = call.clone();
                row.calls.push(JournaledCall { call_id, effect, starts: 1, background: None });
            }
        }
    }

    /// Adds usage to the turn and to its session, so that both always agree.
    pub(crate) fn add_usage(&mut self, claim: &TurnClaim, usage: Usage) {
        if let Some(row) = self.turns.get_mut(&claim.turn_id) {
            row.turn.usage += usage;
        }
        if let Some(row) = self.sessions.get_mut(&claim.session_id) {
            row.session.total_prompt_tokens += usage.prompt_tokens;
            row.session.total_completion_tokens += usage.completion_tokens;
            row.session.total_cost_microdollars += usage.cost_microdollars.unwrap_or(0);
        }
    }
}
