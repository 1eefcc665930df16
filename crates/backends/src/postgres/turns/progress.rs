//! Reads everything an attempt at a turn starts from.

use futures::future::try_join5;
use ports::Fenced;
use ports::store::TurnProgress;
use protocol::session::Owner;
use protocol::turn::TurnClaim;

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::background_calls::{journal_columns, journaled_call};
use crate::rows::messages::{message, message_columns};
use crate::rows::operations::{operation, operation_columns};
use crate::rows::sessions::{session, session_columns};
use crate::rows::turns::usage;
use crate::rules::fenced_writes::count_fenced;

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
const CALLS: &str =
    concat!("SELECT ", journal_columns!(), " FROM journal WHERE turn_id = $1 ORDER BY id");
const OPERATION: &str =
    concat!("SELECT ", operation_columns!(), " FROM operation AS p WHERE p.turn_id = $1");

/// Expects a connection with a snapshot; all queries are sent at once.
pub(crate) async fn progress(
    db: &PooledConnection,
    claim: &TurnClaim,
) -> Result<Fenced<TurnProgress>, PostgresError> {
    let (turn, id) = (TextParam(claim.turn_id.as_str()), TextParam(claim.session_id.as_str()));
    let (claimed, found, messages, calls, carried_out) = try_join5(
        db.query_opt(CLAIMED, &[&turn, &(claim.fence as i64)]),
        db.query_opt(SESSION, &[&id]),
        db.query(HISTORY, &[&id, &turn]),
        db.query(CALLS, &[&turn]),
        db.query_opt(OPERATION, &[&turn]),
    )
    .await?;
    db.commit().await?;
    let (Some(claimed), Some(found)) = (claimed, found) else {
        count_fenced();
        return Ok(Fenced::Stale);
    };
    let session = session(&found)?;
    Ok(Fenced::Done(TurnProgress {
        owner: session.user_id.clone().map_or(Owner::Anonymous, Owner::User),
        session,
        messages: messages.iter().map(message).collect::<Result<_, _>>()?,
        steps_done: claimed.small("steps_done")?,
        usage: usage(&claimed)?,
        calls: calls.iter().map(journaled_call).collect::<Result<_, _>>()?,
        waiting_follow_ups: claimed.small("waiting")?,
        operation: carried_out.as_ref().map(operation).transpose()?,
    }))
}
