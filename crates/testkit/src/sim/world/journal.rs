//! What a running turn writes down as it goes, and the one way it ends, each under its claim.

use std::collections::BTreeSet;

use ports::store::{Ending, Entry, JournaledCall, Record};
use ports::stream_log::Appended;
use ports::{Fenced, PortError, PortResult};
use protocol::message::{NewMessage, Role};
use protocol::tool::Effect;
use protocol::turn::Claim;
use protocol::usage::Usage;
use protocol::{CallId, MessageId, TurnId};

use super::State;
use super::log::End;

impl State {
    pub fn record(&mut self, claim: &Claim, record: &Record) -> PortResult<Fenced<()>> {
        let Some(row) = self.held(claim) else { return Ok(Fenced::Stale) };
        if row.last_record.as_ref() == Some(&record.id) {
            return Ok(Fenced::Done(()));
        }
        // Everything is checked before anything is changed.
        let rows = record.entries.iter().filter_map(|entry| match entry {
            Entry::Message(row) | Entry::Result(row) => Some(row),
            Entry::Intent { .. } | Entry::StepEnded { .. } => None,
        });
        self.refuse_second_rows(claim, rows)?;
        for entry in &record.entries {
            match entry {
                Entry::Message(message) | Entry::Result(message) => {
                    self.insert_message(&claim.turn_id, message);
                }
                Entry::Intent { call_id, effect } => self.intend(&claim.turn_id, call_id, *effect),
                Entry::StepEnded { usage } => {
                    if let Some(row) = self.turns.get_mut(&claim.turn_id) {
                        row.steps_done += 1;
                    }
                    self.add_usage(claim, *usage);
                }
            }
        }
        if let Some(row) = self.turns.get_mut(&claim.turn_id) {
            row.last_record = Some(record.id.clone());
        }
        Ok(Fenced::Done(()))
    }

    pub fn finish(&mut self, claim: &Claim, ending: &Ending) -> PortResult<Fenced<Vec<TurnId>>> {
        if !ending.status.is_final() {
            return Err(PortError::Broken(format!("{:?} is no end of a turn", ending.status)));
        }
        if self.held(claim).is_none() {
            return Ok(Fenced::Stale);
        }
        self.refuse_second_rows(claim, ending.messages.iter())?;
        let task = claim.turn_id.task();
        // The beginning of it may be stored by an append whose answer was not heard.
        let stored = self.logs.get(&task).map_or(0, |log| log.last);
        let last = ending.last.after(stored).unwrap_or_else(|| ending.last.clone());
        match self.append(&task, claim.fence, &last, End::Sealed)? {
            Appended::Stored => {}
            refused => {
                return Err(PortError::Broken(format!(
                    "the last chunks were refused: {refused:?}"
                )));
            }
        }
        for message in &ending.messages {
            self.insert_message(&claim.turn_id, message);
        }
        self.add_usage(claim, ending.usage);
        self.end_row(claim, ending);
        Ok(Fenced::Done(self.admit_next(claim)))
    }

    fn end_row(&mut self, claim: &Claim, ending: &Ending) {
        let (now, wall) = (self.now, self.wall());
        let Some(row) = self.turns.get_mut(&claim.turn_id) else { return };
        row.turn.status = ending.status;
        row.turn.error = ending.error.clone();
        row.turn.ended_at = Some(wall);
        row.ended = Some(now);
        (row.due, row.lease_until, row.worker) = (None, None, None);
        let took = row.started.map(|started| (now - started).as_millis() as u64);
        let Some(session) = self.sessions.get_mut(&claim.session_id) else { return };
        session.session.updated_at = wall;
        if session.session.title.is_none() {
            session.session.title = ending.title.clone();
        }
        let mut said = session.messages.iter_mut().rev().map(|row| &mut row.message);
        let last = said.find(|said| said.turn_id == claim.turn_id && said.role == Role::Assistant);
        if let Some(last) = last {
            last.duration_ms = took;
        }
    }

    /// The place of the turn that has ended goes to the next one of its slot. Its session may have been given to a user
    /// since: then the turns after it count for that user.
    fn admit_next(&mut self, claim: &Claim) -> Vec<TurnId> {
        let mine = self.turns[&claim.turn_id].slot.clone();
        let mut due = self.admit(&mine);
        let next = self.slot_of(&claim.session_id);
        if next != mine {
            due.extend(self.admit(&next));
        }
        due
    }

    /// A row has an id of its own, and a call one result: a record that comes again much later changes nothing.
    fn refuse_second_rows<'a>(
        &self,
        claim: &Claim,
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
                return Err(PortError::Broken("a row or a result is there already".into()));
            }
        }
        Ok(())
    }

    fn intend(&mut self, turn: &TurnId, call: &CallId, effect: Effect) {
        let Some(row) = self.turns.get_mut(turn) else { return };
        match row.calls.iter_mut().find(|journaled| journaled.call_id == *call) {
            Some(journaled) => {
                journaled.effect = effect;
                journaled.starts += 1;
            }
            None => {
                row.calls.push(JournaledCall { call_id: call.clone(), effect, starts: 1 });
            }
        }
    }

    /// To the turn and to its session, so that both always agree.
    fn add_usage(&mut self, claim: &Claim, usage: Usage) {
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
