//! Journal of a running turn, written under its claim.

use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all, try_join4};
use ports::Fenced;
use ports::store::{JournalEntry, JournalRecord};
use protocol::tool::ToolEffect;
use protocol::turn::TurnClaim;
use protocol::usage::Usage;
use protocol::{CallId, TurnId};

use super::{background_calls, claimed_rows, usage};
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::messages;
use crate::postgres::text_param::TextParam;

pub(crate) async fn record(
    store: PostgresStore,
    claim: TurnClaim,
    record: JournalRecord,
) -> Result<Fenced<()>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let recorded = write(&db, store.wall_us(), &claim, &record).await?;
    db.commit().await?;
    Ok(recorded)
}

async fn write(
    db: &PooledConnection,
    wall_us: i64,
    claim: &TurnClaim,
    record: &JournalRecord,
) -> Result<Fenced<()>, PostgresError> {
    let Some(claimed) = claimed_rows::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    if claimed.last_record.as_deref() == Some(record.id.as_str()) {
        return Ok(Fenced::Done(()));
    }
    let to = claimed.message_position(claim, wall_us);
    let mut sequence = claimed.last_sequence;
    let (mut steps, mut used) = (0, Usage::default());
    // The journal is read in row order, so its rows are sent in order; nothing else depends on it.
    let [start, end, mark_taken] = background_calls::STATEMENTS;
    db.prepare(&[messages::INSERT, INTENT, start, end, mark_taken]).await?;
    let mut entries: Vec<BoxFuture<'_, Result<(), PostgresError>>> = Vec::new();
    for entry in &record.entries {
        match entry {
            JournalEntry::Message(message) => {
                sequence += 1;
                entries.push(messages::insert(db, to, sequence, message, None).boxed());
            }
            JournalEntry::Result(message) => {
                sequence += 1;
                let insert = messages::insert(db, to, sequence, message, None);
                entries.push(insert.map(|inserted| inserted.map_err(one_result)).boxed());
            }
            JournalEntry::Intent { call_id, effect } => {
                entries.push(intent(db, &claim.turn_id, call_id, *effect).boxed());
            }
            JournalEntry::StepEnded { usage } => {
                steps += 1;
                used += *usage;
            }
            JournalEntry::MovedToBackground { call_id, id } => {
                entries.push(background_calls::start(db, &claim.turn_id, call_id, id).boxed());
            }
            JournalEntry::BackgroundEnded { call_id, end } => {
                entries.push(background_calls::end(db, &claim.turn_id, call_id, end).boxed());
            }
            JournalEntry::BackgroundTaken { call_id } => {
                entries.push(background_calls::mark_taken(db, &claim.turn_id, call_id).boxed());
            }
        }
    }
    try_join4(
        try_join_all(entries),
        db.query(
            "UPDATE session SET last_sequence = $2 WHERE id = $1 AND last_sequence <> $2",
            &[&TextParam(claim.session_id.as_str()), &sequence],
        ),
        db.query(
            "UPDATE turn SET last_record = $2, steps_done = steps_done + $3 WHERE id = $1",
            &[&TextParam(claim.turn_id.as_str()), &TextParam(record.id.as_str()), &steps],
        ),
        usage::add(db, claim, &used),
    )
    .await?;
    Ok(Fenced::Done(()))
}

fn one_result(fault: PostgresError) -> PostgresError {
    if fault.is_unique_violation() {
        PostgresError::broken("the tool call already has a result")
    } else {
        fault
    }
}

const INTENT: &str = "\
    INSERT INTO journal (turn_id, call_id, effect, starts) VALUES ($1, $2, $3, 1)
    ON CONFLICT (turn_id, call_id) DO UPDATE
        SET effect = excluded.effect, starts = journal.starts + 1";

async fn intent(
    db: &PooledConnection,
    turn: &TurnId,
    call: &CallId,
    effect: ToolEffect,
) -> Result<(), PostgresError> {
    let effect = effect.as_str();
    db.query(INTENT, &[&TextParam(turn.as_str()), &TextParam(call.as_str()), &effect]).await?;
    Ok(())
}
