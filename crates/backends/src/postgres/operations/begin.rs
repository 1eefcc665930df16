//! Beginning an operation: its row, its turn with log and outbox entry, and the pending row of the history, or none of
//! them.

use futures::future::{try_join, try_join3};
use ports::Fenced;
use ports::store::{NewOperation, OperationBegun};
use protocol::limits;
use protocol::operation::Operation;
use protocol::turn::TurnClaim;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::messages::{self, Belongs};
use super::super::rows;
use super::super::rows::operation_columns;
use super::super::text::Text;
use super::super::turns::held::{self, Held};
use super::super::turns::insert::{Asked, NewRow, insert};
use super::super::turns::places::taken;
use super::super::turns::slots;

pub(super) async fn begin(
    store: Postgres,
    claim: TurnClaim,
    new: NewOperation,
) -> Result<Fenced<OperationBegun>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let begun = write(&db, &store, &claim, &new).await?;
    db.commit().await?;
    Ok(begun)
}

async fn write(
    db: &Connection,
    store: &Postgres,
    claim: &TurnClaim,
    new: &NewOperation,
) -> Result<Fenced<OperationBegun>, Fault> {
    // By its call it is found when the result takes its place.
    if new.pending.tool_call_id.as_ref() != Some(&new.call.id) {
        return Err(Fault::broken("the pending row of an operation belongs to another call"));
    }
    let Some(slot) = slots::lock_for_new(db, &claim.session_id).await? else {
        return Ok(Fenced::Stale);
    };
    let Some(held) = held::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    let (existing, at_work) = try_join(of_call(db, claim, new), count(db, claim)).await?;
    if let Some(existing) = existing {
        return Ok(Fenced::Done(OperationBegun::Exists(Box::new(existing))));
    }
    if at_work.open >= u64::from(limits::OPERATIONS) {
        return Ok(Fenced::Done(OperationBegun::TooMany));
    }
    let admitted = taken(db, &slot).await?.has_room(store.caps);
    let operation = record(db, store, claim, new, &held).await?;
    let turn = NewRow {
        id: &new.turn_id,
        session: &claim.session_id,
        ordinal: at_work.next_ordinal,
        slot: &slot,
        admitted,
        request: &new.request,
        asked: Asked::default(),
        parent: Some(&claim.turn_id),
        // A cancel that has passed over the turn that asks would otherwise miss this one.
        cancel_requested: held.cancel_requested,
        push_grace: new.push_grace,
        wall_us: store.wall_us(),
    };
    insert(db, turn).await?;
    let due = admitted || held.cancel_requested;
    Ok(Fenced::Done(OperationBegun::New { operation: Box::new(operation), due }))
}

async fn of_call(
    db: &Connection,
    claim: &TurnClaim,
    new: &NewOperation,
) -> Result<Option<Operation>, Fault> {
    let row = db
        .query_opt(
            concat!(
                "SELECT ",
                operation_columns!(),
                " FROM operation AS p WHERE p.asked_by = $1 AND p.call_id = $2"
            ),
            &[&Text(claim.turn_id.as_str()), &Text(new.call.id.as_str())],
        )
        .await?;
    row.as_ref().map(rows::operation).transpose()
}

struct AtWork {
    open: u64,
    /// Below those of all turns of the session that stand outside its order.
    next_ordinal: i64,
}

/// Exact for as long as the session is locked.
async fn count(db: &Connection, claim: &TurnClaim) -> Result<AtWork, Fault> {
    let row = db
        .query_one(
            "SELECT (SELECT count(*) FROM operation WHERE session_id = $1 AND state <> 'ended')
                     AS open,
                 least(0, (SELECT min(ordinal) FROM turn WHERE session_id = $1)) - 1 AS next",
            &[&Text(claim.session_id.as_str())],
        )
        .await?;
    Ok(AtWork { open: rows::number(&row, "open")?, next_ordinal: rows::get(&row, "next")? })
}

/// The row of the operation, and the pending row of the history.
async fn record(
    db: &Connection,
    store: &Postgres,
    claim: &TurnClaim,
    new: &NewOperation,
    held: &Held,
) -> Result<Operation, Fault> {
    let (session, wall_us) = (Text(claim.session_id.as_str()), store.wall_us());
    let ordinal = held.rows_ordinal();
    let to = Belongs { session: &claim.session_id, turn: &claim.turn_id, ordinal, wall_us };
    let sequence = held.last_sequence + 1;
    let (row, (), _) = try_join3(
        db.query_one(
            concat!(
                "WITH p AS (
                     INSERT INTO operation (id, turn_id, session_id, asked_by, call_id, tool_name,
                         arguments, state, created_at)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, 'running', $8) RETURNING *)
                 SELECT ",
                operation_columns!(),
                " FROM p"
            ),
            &[
                &Text(new.id.as_str()),
                &Text(new.turn_id.as_str()),
                &session,
                &Text(claim.turn_id.as_str()),
                &Text(new.call.id.as_str()),
                &Text(&new.call.name),
                &Text(&new.call.arguments),
                &wall_us,
            ],
        ),
        messages::insert(db, to, sequence, &new.pending, None),
        db.query("UPDATE session SET last_sequence = $2 WHERE id = $1", &[&session, &sequence]),
    )
    .await?;
    rows::operation(&row)
}
