//! Reads everything an attempt at a turn starts from.

use futures::future::try_join5;
use ports::Fenced;
use ports::store::{BackgroundEnd, BackgroundRecord, JournaledCall, TurnProgress};
use protocol::session::Owner;
use protocol::turn::TurnClaim;
use tokio_postgres::Row;

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::rows;
use super::super::rows::{message_columns, operation_columns, session_columns};
use super::super::stream_log::count_fenced;
use super::super::text_param::TextParam;
use crate::words;

/// Finds the turn only while its claim is valid.
const CLAIMED: &str = "\
    SELECT steps_done, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens,
        cost_microdollars,
        (SELECT count(*) FROM follow_up AS f WHERE f.turn_id = turn.id AND f.state = 'pending')
            AS waiting
    FROM turn WHERE id = $1 AND fence = $2 AND status = 'running'";
const SESSION: &str = concat!("SELECT ", session_columns!(), " FROM session AS s WHERE s.id = $1");
/// The messages of this turn and of those before it, turn by turn: a message that was sent while another turn ran
/// comes after that turn's response, whatever its sequence. A turn outside the order has no history yet.
const HISTORY: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM message AS m
     WHERE m.session_id = $1 AND m.superseded_by IS NULL
       AND m.ordinal <= (SELECT t.ordinal FROM turn AS t WHERE t.id = $2 AND t.ordinal > 0)
     ORDER BY m.ordinal, m.sequence"
);
const CALLS: &str = "\
    SELECT call_id, effect, starts, background_id, outcome, output, taken
    FROM journal WHERE turn_id = $1 ORDER BY id";
const OPERATION: &str =
    concat!("SELECT ", operation_columns!(), " FROM operation AS p WHERE p.turn_id = $1");

/// Expects a connection with a snapshot; all queries are sent at once.
pub(super) async fn progress(
    db: &PooledConnection,
    claim: &TurnClaim,
) -> Result<Fenced<TurnProgress>, PostgresError> {
    let (turn, session) = (TextParam(claim.turn_id.as_str()), TextParam(claim.session_id.as_str()));
    let (claimed, found, messages, calls, operation) = try_join5(
        db.query_opt(CLAIMED, &[&turn, &(claim.fence as i64)]),
        db.query_opt(SESSION, &[&session]),
        db.query(HISTORY, &[&session, &turn]),
        db.query(CALLS, &[&turn]),
        db.query_opt(OPERATION, &[&turn]),
    )
    .await?;
    db.commit().await?;
    let (Some(claimed), Some(found)) = (claimed, found) else {
        count_fenced();
        return Ok(Fenced::Stale);
    };
    let session = rows::session(&found)?;
    Ok(Fenced::Done(TurnProgress {
        owner: session.user_id.clone().map_or(Owner::Anonymous, Owner::User),
        session,
        messages: messages.iter().map(rows::message).collect::<Result<_, _>>()?,
        steps_done: rows::get::<i32>(&claimed, "steps_done")? as u32,
        usage: rows::usage(&claimed)?,
        calls: calls.iter().map(call).collect::<Result<_, _>>()?,
        waiting_follow_ups: rows::number(&claimed, "waiting")? as u32,
        operation: operation.as_ref().map(rows::operation).transpose()?,
    }))
}

fn call(row: &Row) -> Result<JournaledCall, PostgresError> {
    Ok(JournaledCall {
        call_id: rows::id(row, "call_id")?,
        effect: rows::word(row, "effect", words::effect)?,
        starts: rows::get::<i32>(row, "starts")? as u32,
        parked: parked(row)?,
    })
}

fn parked(row: &Row) -> Result<Option<BackgroundRecord>, PostgresError> {
    let Some(id) = rows::optional_id(row, "background_id")? else { return Ok(None) };
    let outcome = rows::optional_word(row, "outcome", words::outcome)?;
    let output: Option<String> = rows::get(row, "output")?;
    let end = outcome.zip(output).map(|(outcome, output)| BackgroundEnd { outcome, output });
    Ok(Some(BackgroundRecord { id, end, taken: rows::get(row, "taken")? }))
}
