//! Reads everything an attempt at a turn starts from.

use ports::Fenced;
use ports::store::{JournaledCall, TurnProgress};
use protocol::message::Message;
use protocol::session::Owner;
use protocol::turn::TurnClaim;
use rusqlite::{Connection, params};

use super::claimed_rows::find_claimed;
use super::settle;
use crate::rows::background_calls::{journal_columns, journaled_call};
use crate::rows::messages::{message, message_columns};
use crate::rows::sessions::{session, session_columns};
use crate::rows::turns::usage;
use crate::sqlite::error::SqliteError;
use crate::sqlite::operations;

pub(crate) fn progress(
    db: &Connection,
    claim: &TurnClaim,
) -> Result<Fenced<TurnProgress>, SqliteError> {
    let Some(claimed) = find_claimed(db, claim)? else { return Ok(Fenced::Stale) };
    let session = db
        .prepare_cached(concat!(
            "SELECT ",
            session_columns!(),
            " FROM session AS s WHERE s.id = ?1"
        ))?
        .query_row([claim.session_id.as_str()], |row| session(row))?;
    let owner = session.user_id.clone().map_or(Owner::Anonymous, Owner::User);
    let (steps_done, usage) = db
        .prepare_cached(
            "SELECT steps_done, prompt_tokens, completion_tokens, cache_read_tokens,
                 cache_write_tokens, cost_microdollars FROM turn WHERE id = ?1",
        )?
        .query_row([claim.turn_id.as_str()], |row| Ok((row.get("steps_done")?, usage(row)?)))?;
    // An operation outside the order has a negative ordinal, and so no history before it.
    let messages = history(db, claim, claimed.ordinal)?;
    let calls = calls(db, claim)?;
    let waiting_follow_ups = settle::waiting_follow_ups(db, &claim.turn_id)?;
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
        .prepare_cached(concat!(
            "SELECT ",
            message_columns!(),
            " FROM message AS m
             WHERE m.session_id = ?1 AND m.ordinal <= ?2 AND m.superseded_by IS NULL
             ORDER BY m.ordinal, m.sequence"
        ))?
        .query_map(params![claim.session_id.as_str(), ordinal], |row| message(row))?
        .collect::<Result<_, _>>()?;
    Ok(messages)
}

fn calls(db: &Connection, claim: &TurnClaim) -> Result<Vec<JournaledCall>, SqliteError> {
    let calls = db
        .prepare_cached(concat!(
            "SELECT ",
            journal_columns!(),
            " FROM journal WHERE turn_id = ?1 ORDER BY id"
        ))?
        .query_map([claim.turn_id.as_str()], |row| journaled_call(row))?
        .collect::<Result<_, _>>()?;
    Ok(calls)
}
