//! What a running turn writes down as it goes, under its claim.

use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all, try_join4};
use ports::Fenced;
use ports::store::{BackgroundEnd, JournalEntry, JournalRecord};
use protocol::tool::ToolEffect;
use protocol::turn::TurnClaim;
use protocol::usage::Usage;
use protocol::{BackgroundId, CallId, TurnId};
use tokio_postgres::Row;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::messages::{self, Belongs};
use super::super::text::Text;
use super::{held, usage};
use crate::words;

pub(super) async fn record(
    store: Postgres,
    claim: TurnClaim,
    record: JournalRecord,
) -> Result<Fenced<()>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let recorded = write(&db, store.wall_us(), &claim, &record).await?;
    db.commit().await?;
    Ok(recorded)
}

async fn write(
    db: &Connection,
    wall_us: i64,
    claim: &TurnClaim,
    record: &JournalRecord,
) -> Result<Fenced<()>, Fault> {
    let Some(held) = held::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    if held.last_record.as_deref() == Some(record.id.as_str()) {
        return Ok(Fenced::Done(()));
    }
    let ordinal = held.rows_ordinal();
    let to = Belongs { session: &claim.session_id, turn: &claim.turn_id, ordinal, wall_us };
    let mut sequence = held.last_sequence;
    let (mut steps, mut used) = (0, Usage::default());
    // The journal is read in the order of its rows, so they are sent in order; nothing else depends on it.
    db.prepare(&[messages::INSERT, INTENT, PARKED, PARKED_ENDED, PARKED_TAKEN]).await?;
    let mut entries: Vec<BoxFuture<'_, Result<(), Fault>>> = Vec::new();
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
            JournalEntry::Parked { call_id, id } => {
                entries.push(parked(db, &claim.turn_id, call_id, id).boxed());
            }
            JournalEntry::ParkedEnded { call_id, end } => {
                entries.push(parked_ended(db, &claim.turn_id, call_id, end).boxed());
            }
            JournalEntry::ParkedTaken { call_id } => {
                entries.push(parked_taken(db, &claim.turn_id, call_id).boxed());
            }
        }
    }
    try_join4(
        try_join_all(entries),
        db.query(
            "UPDATE session SET last_sequence = $2 WHERE id = $1 AND last_sequence <> $2",
            &[&Text(claim.session_id.as_str()), &sequence],
        ),
        db.query(
            "UPDATE turn SET last_record = $2, steps_done = steps_done + $3 WHERE id = $1",
            &[&Text(claim.turn_id.as_str()), &Text(record.id.as_str()), &steps],
        ),
        usage::add(db, claim, &used),
    )
    .await?;
    Ok(Fenced::Done(()))
}

fn one_result(fault: Fault) -> Fault {
    if fault.is_unique_violation() {
        Fault::broken("a tool call has its result already")
    } else {
        fault
    }
}

const INTENT: &str = "\
    INSERT INTO journal (turn_id, call_id, effect, starts) VALUES ($1, $2, $3, 1)
    ON CONFLICT (turn_id, call_id) DO UPDATE
        SET effect = excluded.effect, starts = journal.starts + 1";

async fn intent(
    db: &Connection,
    turn: &TurnId,
    call: &CallId,
    effect: ToolEffect,
) -> Result<(), Fault> {
    let effect = words::effect_word(effect);
    db.query(INTENT, &[&Text(turn.as_str()), &Text(call.as_str()), &effect]).await?;
    Ok(())
}

const PARKED: &str =
    "UPDATE journal SET background_id = $3 WHERE turn_id = $1 AND call_id = $2 RETURNING id";
/// Of several ends the first counts.
const PARKED_ENDED: &str = "\
    UPDATE journal SET outcome = coalesce(outcome, $3), output = coalesce(output, $4)
    WHERE turn_id = $1 AND call_id = $2 AND background_id IS NOT NULL RETURNING id";
const PARKED_TAKEN: &str = "\
    UPDATE journal SET taken = true
    WHERE turn_id = $1 AND call_id = $2 AND background_id IS NOT NULL RETURNING id";

async fn parked(
    db: &Connection,
    turn: &TurnId,
    call: &CallId,
    id: &BackgroundId,
) -> Result<(), Fault> {
    let id = Text(id.as_str());
    changed(db.query_opt(PARKED, &[&Text(turn.as_str()), &Text(call.as_str()), &id]).await?)
}

async fn parked_ended(
    db: &Connection,
    turn: &TurnId,
    call: &CallId,
    end: &BackgroundEnd,
) -> Result<(), Fault> {
    let (turn, call) = (Text(turn.as_str()), Text(call.as_str()));
    let (outcome, output) = (words::outcome_word(end.outcome), Text(&end.output));
    changed(db.query_opt(PARKED_ENDED, &[&turn, &call, &outcome, &output]).await?)
}

async fn parked_taken(db: &Connection, turn: &TurnId, call: &CallId) -> Result<(), Fault> {
    changed(db.query_opt(PARKED_TAKEN, &[&Text(turn.as_str()), &Text(call.as_str())]).await?)
}

fn changed(row: Option<Row>) -> Result<(), Fault> {
    match row {
        Some(_) => Ok(()),
        None => Err(Fault::broken("the journal has no such call, or it was not parked")),
    }
}
