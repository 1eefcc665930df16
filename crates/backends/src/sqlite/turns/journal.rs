//! Journal of a running turn, written under its claim.

use ports::Fenced;
use ports::store::{JournalEntry, JournalRecord};
use protocol::tool::ToolEffect;
use protocol::turn::TurnClaim;
use protocol::usage::Usage;
use protocol::{CallId, TurnId};
use rusqlite::{Connection, params};

use super::super::StoreTime;
use super::super::error::SqliteError;
use super::super::messages;
use super::super::write_job::WriteOutput;
use super::{background_calls, find_claimed};
use crate::words;

pub(super) fn record(
    db: &Connection,
    now: StoreTime,
    claim: &TurnClaim,
    record: &JournalRecord,
) -> Result<WriteOutput<Fenced<()>>, SqliteError> {
    let Some(claimed) = find_claimed(db, claim)? else {
        return Ok(WriteOutput::silent(Fenced::Stale));
    };
    let to = claimed.message_position(claim);
    let news = db
        .prepare_cached("UPDATE turn SET last_record = ?2 WHERE id = ?1 AND last_record IS NOT ?2")?
        .execute([claim.turn_id.as_str(), record.id.as_str()])?;
    if news == 0 {
        return Ok(WriteOutput::silent(Fenced::Done(())));
    }
    for entry in &record.entries {
        match entry {
            JournalEntry::Message(message) => messages::insert(db, to, message, now.wall_us)?,
            JournalEntry::Intent { call_id, effect } => {
                intent(db, &claim.turn_id, call_id, *effect)?
            }
            JournalEntry::Result(message) => messages::insert_result(db, to, message, now.wall_us)?,
            JournalEntry::StepEnded { usage } => {
                db.prepare_cached("UPDATE turn SET steps_done = steps_done + 1 WHERE id = ?1")?
                    .execute([claim.turn_id.as_str()])?;
                add_usage(db, claim, usage)?;
            }
            JournalEntry::Parked { call_id, id } => {
                background_calls::start(db, &claim.turn_id, call_id, id)?
            }
            JournalEntry::ParkedEnded { call_id, end } => {
                background_calls::end(db, &claim.turn_id, call_id, end)?
            }
            JournalEntry::ParkedTaken { call_id } => {
                background_calls::mark_taken(db, &claim.turn_id, call_id)?
            }
        }
    }
    Ok(WriteOutput::silent(Fenced::Done(())))
}

/// Adds to the turn and to its session, so that both always agree.
pub(super) fn add_usage(
    db: &Connection,
    claim: &TurnClaim,
    usage: &Usage,
) -> Result<(), SqliteError> {
    let cost = usage.cost_microdollars.map(|cost| cost as i64);
    db.prepare_cached(
        "UPDATE turn SET prompt_tokens = prompt_tokens + ?2,
             completion_tokens = completion_tokens + ?3,
             cache_read_tokens = cache_read_tokens + ?4,
             cache_write_tokens = cache_write_tokens + ?5,
             cost_microdollars = CASE WHEN ?6 IS NULL THEN cost_microdollars
                                      ELSE ifnull(cost_microdollars, 0) + ?6 END
         WHERE id = ?1",
    )?
    .execute(params![
        claim.turn_id.as_str(),
        usage.prompt_tokens as i64,
        usage.completion_tokens as i64,
        usage.cache_read_tokens as i64,
        usage.cache_write_tokens as i64,
        cost,
    ])?;
    db.prepare_cached(
        "UPDATE session SET total_prompt_tokens = total_prompt_tokens + ?2,
             total_completion_tokens = total_completion_tokens + ?3,
             total_cost_microdollars = total_cost_microdollars + ?4
         WHERE id = ?1",
    )?
    .execute(params![
        claim.session_id.as_str(),
        usage.prompt_tokens as i64,
        usage.completion_tokens as i64,
        cost.unwrap_or(0),
    ])?;
    Ok(())
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
    .execute([turn.as_str(), call.as_str(), words::effect_word(effect)])?;
    Ok(())
}
