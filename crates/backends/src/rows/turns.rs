//! Rows of turns.

use protocol::turn::{OperationRef, Turn, TurnError};
use protocol::usage::Usage;

use super::StoreRow;
use crate::rules::regenerate_target::{RegenerateTarget, Superseded};

/// Columns of a `Turn`; the table `turn` has the alias `t`, with the joins of `of_turn`.
macro_rules! turn_columns {
    () => {
        "t.id, t.session_id, s.user_id, t.status, t.message_id, t.request, t.fence, t.attempt, \
         t.admitted, t.aside, t.parent_turn_id, p.id AS operation_id, p.call_id, p.tool_name, \
         t.cancel_requested, t.error_code, t.error_message, t.prompt_tokens, t.completion_tokens, \
         t.cache_read_tokens, t.cache_write_tokens, t.cost_microdollars, t.created_at, \
         t.started_at, t.ended_at"
    };
}

/// Joins the session of a turn `t`, and the operation that it carries out, if any.
macro_rules! of_turn {
    () => {
        " JOIN session AS s ON s.id = t.session_id LEFT JOIN operation AS p ON p.turn_id = t.id "
    };
}

/// Selects turns; the table `turn` has the alias `t`.
macro_rules! select_turns {
    () => {
        concat!(
            "SELECT ",
            $crate::rows::turns::turn_columns!(),
            " FROM turn AS t",
            $crate::rows::turns::of_turn!()
        )
    };
}

/// Columns of a `RegenerateTarget`; the table `turn` has the alias `t`.
macro_rules! regenerate_target_columns {
    () => {
        "t.id, t.ordinal, t.superseded_by IS NOT NULL AS superseded, t.client_id, t.fingerprint"
    };
}

pub(crate) use {of_turn, regenerate_target_columns, select_turns, turn_columns};

pub(crate) fn turn<R: StoreRow>(row: &R) -> Result<Turn, R::Error> {
    Ok(Turn {
        id: row.id("id")?,
        session_id: row.id("session_id")?,
        user_id: row.optional_id("user_id")?,
        status: row.word("status")?,
        message_id: row.id("message_id")?,
        request: row.optional_json("request")?.unwrap_or_default(),
        fence: row.number("fence")?,
        attempt: row.small("attempt")?,
        admitted: row.flag("admitted")?,
        aside: row.integer("aside")? != 0,
        parent: row.optional_id("parent_turn_id")?,
        operation: operation_ref(row)?,
        cancel_requested: row.flag("cancel_requested")?,
        error: error(row)?,
        usage: usage(row)?,
        created_at: row.time("created_at")?,
        started_at: row.optional_time("started_at")?,
        ended_at: row.optional_time("ended_at")?,
    })
}

fn operation_ref<R: StoreRow>(row: &R) -> Result<Option<OperationRef>, R::Error> {
    let Some(id) = row.optional_id("operation_id")? else { return Ok(None) };
    Ok(Some(OperationRef { id, call_id: row.id("call_id")?, tool_name: row.text("tool_name")? }))
}

fn error<R: StoreRow>(row: &R) -> Result<Option<TurnError>, R::Error> {
    let Some(code) = row.optional_word("error_code")? else { return Ok(None) };
    let message = row.optional_text("error_message")?.unwrap_or_default();
    Ok(Some(TurnError { code, message }))
}

pub(crate) fn usage<R: StoreRow>(row: &R) -> Result<Usage, R::Error> {
    Ok(Usage {
        prompt_tokens: row.number("prompt_tokens")?,
        completion_tokens: row.number("completion_tokens")?,
        cache_read_tokens: row.number("cache_read_tokens")?,
        cache_write_tokens: row.number("cache_write_tokens")?,
        cost_microdollars: row.optional_number("cost_microdollars")?,
    })
}

pub(crate) fn regenerate_target<R: StoreRow>(row: &R) -> Result<RegenerateTarget, R::Error> {
    Ok(RegenerateTarget {
        id: row.id("id")?,
        ordinal: row.integer("ordinal")?,
        superseded: if row.flag("superseded")? { Superseded::Yes } else { Superseded::No },
        client_id: row.optional_text("client_id")?,
        fingerprint: row.optional_text("fingerprint")?,
    })
}
