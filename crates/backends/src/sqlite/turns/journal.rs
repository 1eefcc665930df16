//! Journal of a running turn, written under its claim.

use ports::Fenced;
use ports::store::{JournalEntry, JournalRecord};
use protocol::tool::ToolEffect;
use protocol::turn::TurnClaim;
use protocol::{CallId, TurnId};
use rusqlite::Connection;

use super::claimed_rows::find_claimed;
use super::{background_calls, usage};
use crate::sqlite::StoreTime;
use crate::sqlite::error::SqliteError;
use crate::sqlite::messages;
use crate::sqlite::write_job::WriteOutput;

pub(crate) fn record(
    db: &Connection,
    now: StoreTime,
    claim: &TurnClaim,
    record: &JournalRecord,
) -> Result<WriteOutput<Fenced<()>>, SqliteError> {
    let Some(claimed) = find_claimed(db, claim)? else {
        return Ok(WriteOutput::silent(Fenced::Stale));
    };
    let to = claimed.message_position(claim, now.wall_us);
    let news = db
        .prepare_cached("UPDATE turn SET last_record = ?2 WHERE id = ?1 AND last_record IS NOT ?2")?
        .execute([claim.turn_id.as_str(), record.id.as_str()])?;
    if news == 0 {
        return Ok(WriteOutput::silent(Fenced::Done(())));
    }
    for entry in &record.entries {
        match entry {
            JournalEntry::Message(message) => messages::insert(db, to, message)?,
            JournalEntry::Intent { call_id, effect } => {
                intent(db, &claim.turn_id, call_id, *effect)?
            }
            JournalEntry::Result(message) => messages::insert_result(db, to, message)?,
            JournalEntry::StepEnded { usage: used } => {
                db.prepare_cached("UPDATE turn SET steps_done = steps_done + 1 WHERE id = ?1")?
                    .execute([claim.turn_id.as_str()])?;
                usage::add(db, claim, used)?;
            }
            JournalEntry::MovedToBackground { call_id, id } => {
                background_calls::start(db, &claim.turn_id, call_id, id)?
            }
            JournalEntry::BackgroundEnded { call_id, end } => {
                background_calls::end(db, &claim.turn_id, call_id, end)?
            }
            JournalEntry::BackgroundTaken { call_id } => {
                background_calls::mark_taken(db, &claim.turn_id, call_id)?
            }
        }
    }
    Ok(WriteOutput::silent(Fenced::Done(())))
}

fn intent(
    db: &Connection,
    turn: &TurnId,
    call: &CallId,
    effect: ToolEffect,
) -> Result<(), SqliteError> {
    db.prepare_cached(
        "INSERT INTO journal (turn_id, call_id, effect, starts) VALUES (?1, ?2, ?3, 1)
         ON CONFLICT (turn_id, call_id) DO UPDATE SET effect = excluded.effect, starts = starts + 1",
    )?
    .execute([turn.as_str(), call.as_str(), effect.as_str()])?;
    Ok(())
}
