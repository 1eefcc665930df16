//! Reads everything an attempt at a turn starts from.

use ports::Fenced;
use ports::store::{JournaledCall, TurnProgress};
use protocol::message::Message;
use protocol::session::Owner;
use protocol::turn::TurnClaim;
use rusqlite::{Connection, params};

use super::super::error::SqliteError;
use super::super::{follow_ups, operations, rows};
use super::{background_calls, find_claimed};
use crate::words;

pub(super) fn progress(
    db: &Connection,
    claim: &TurnClaim,
) -> Result<Fenced<TurnProgress>, SqliteError> {
    let Some(claimed) = find_claimed(db, claim)? else { return Ok(Fenced::Stale) };
    let session = db
        .prepare_cached(&format!("SELECT {} FROM session AS s WHERE s.id = ?1", rows::SESSION))?
        .query_row([claim.session_id.as_str()], rows::session)?;
    let owner = session.user_id.clone().map_or(Owner::Anonymous, Owner::User);
    let (steps_done, usage) = db
        .prepare_cached(
            "SELECT steps_done, prompt_tokens, completion_tokens, cache_read_tokens,
                 cache_write_tokens, cost_microdollars FROM turn WHERE id = ?1",
        )?
        .query_row([claim.turn_id.as_str()], |row| {
            Ok((row.get("steps_done")?, rows::usage(row)?))
        })?;
    // An operation outside the order has a negative ordinal, and so no history before it.
    let messages = history(db, claim, claimed.ordinal)?;
    let calls = calls(db, claim)?;
    let waiting_follow_ups = follow_ups::waiting(db, &claim.turn_id)?;
    let operation = operations::operation_of_turn(db, &claim.turn_id)?;
    Ok(Fenced::Done(TurnProgress {
        session,
        owner,
        messages,
        steps_done,
        usage,
        calls,
        waiting_follow_ups,
        operation,
    }))
}

/// The messages of this turn and of those before it, turn by turn: a message that was sent while another turn ran
/// comes after that turn's response, whatever its sequence.
fn history(db: &Connection, claim: &TurnClaim, ordinal: i64) -> Result<Vec<Message>, SqliteError> {
    let messages = db
        .prepare_cached(&format!(
            "SELECT {} FROM message AS m
             WHERE m.session_id = ?1 AND m.ordinal <= ?2 AND m.superseded_by IS NULL
             ORDER BY m.ordinal, m.sequence",
            rows::MESSAGE
        ))?
        .query_map(params![claim.session_id.as_str(), ordinal], rows::message)?
        .collect::<Result<_, _>>()?;
    Ok(messages)
}

fn calls(db: &Connection, claim: &TurnClaim) -> Result<Vec<JournaledCall>, SqliteError> {
    let calls = db
        .prepare_cached(
            "SELECT call_id, effect, starts, background_id, outcome, output, taken
             FROM journal WHERE turn_id = ?1 ORDER BY id",
        )?
        .query_map([claim.turn_id.as_str()], |row| {
            Ok(JournaledCall {
                call_id: rows::id(row, "call_id")?,
                effect: rows::word(row, "effect", words::effect)?,
                starts: row.get("starts")?,
                parked: background_calls::read(row)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(calls)
}
