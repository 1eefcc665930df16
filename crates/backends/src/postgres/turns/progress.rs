//! Everything an attempt at a turn starts from.

use futures::future::try_join4;
use ports::Fenced;
use ports::store::{JournaledCall, Progress};
use protocol::session::Owner;
use protocol::turn::Claim;
use tokio_postgres::Row;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::rows::{message_columns, session_columns};
use super::super::stream_log::count_fenced;
use super::super::text::Text;
use crate::words;

/// Only while the claim holds.
const HELD: &str = "\
    SELECT steps_done, prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens,
        cost_microdollars
    FROM turn WHERE id = $1 AND fence = $2 AND status = 'running'";
const SESSION: &str = concat!("SELECT ", session_columns!(), " FROM session AS s WHERE s.id = $1");
/// The messages of this turn and of those before it, turn by turn: a message that was sent while another
/// turn ran comes after that turn's answer, whatever its sequence.
const HISTORY: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM message AS m
     WHERE m.session_id = $1 AND m.superseded_by IS NULL
       AND m.ordinal <= (SELECT t.ordinal FROM turn AS t WHERE t.id = $2)
     ORDER BY m.ordinal, m.sequence"
);
const CALLS: &str = "SELECT call_id, effect, starts FROM journal WHERE turn_id = $1 ORDER BY id";

/// On a connection that shows one moment; everything is asked for at once.
pub(super) async fn progress(db: &Connection, claim: &Claim) -> Result<Fenced<Progress>, Fault> {
    let (turn, session) = (Text(claim.turn_id.as_str()), Text(claim.session_id.as_str()));
    let (held, found, messages, calls) = try_join4(
        db.query_opt(HELD, &[&turn, &(claim.fence as i64)]),
        db.query_opt(SESSION, &[&session]),
        db.query(HISTORY, &[&session, &turn]),
        db.query(CALLS, &[&turn]),
    )
    .await?;
    db.commit().await?;
    let (Some(held), Some(found)) = (held, found) else {
        count_fenced();
        return Ok(Fenced::Stale);
    };
    let session = rows::session(&found)?;
    Ok(Fenced::Done(Progress {
        owner: session.user_id.clone().map_or(Owner::Anonymous, Owner::User),
        session,
        messages: messages.iter().map(rows::message).collect::<Result<_, _>>()?,
        steps_done: rows::get::<i32>(&held, "steps_done")? as u32,
        usage: rows::usage(&held)?,
        calls: calls.iter().map(call).collect::<Result<_, _>>()?,
    }))
}

fn call(row: &Row) -> Result<JournaledCall, Fault> {
    Ok(JournaledCall {
        call_id: rows::id(row, "call_id")?,
        effect: rows::word(row, "effect", words::effect)?,
        starts: rows::get::<i32>(row, "starts")? as u32,
    })
}
