//! Operations whose work goes on elsewhere: without a place and without a worker, until they are completed or cancelled,
//! or their time is over. That time is on the clock of the database, so a restart does not change it.

use std::time::Duration;

use ports::Fenced;
use ports::store::OperationKey;
use protocol::TurnId;
use protocol::operation::OperationState;
use protocol::turn::TurnClaim;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::leases::seconds;
use super::super::text::Text;
use super::super::turns::places::admit_in;
use super::super::turns::{held, slots};

/// An orderly end of the attempt, as a hand-back is.
const REST: &str = "\
    UPDATE turn SET status = 'queued', worker = NULL, lease_until = NULL,
        attempt = greatest(0, attempt - 1), admitted = false, aside = 0,
        rests_until = clock_timestamp() + $2 * interval '1 second',
        due = clock_timestamp() + $2 * interval '1 second'
    WHERE id = $1";

/// There is nothing to wait for any more: it keeps its place and is due at once.
const GO_ON: &str = "\
    UPDATE turn SET status = 'queued', worker = NULL, lease_until = NULL,
        attempt = greatest(0, attempt - 1), aside = 0, due = clock_timestamp()
    WHERE id = $1";

pub(super) async fn accepted(
    store: Postgres,
    claim: TurnClaim,
    at_most: Duration,
) -> Result<Fenced<()>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let rests = rest(&db, &store, &claim, at_most).await?;
    db.commit().await?;
    Ok(rests)
}

async fn rest(
    db: &Connection,
    store: &Postgres,
    claim: &TurnClaim,
    at_most: Duration,
) -> Result<Fenced<()>, Fault> {
    let turn = Text(claim.turn_id.as_str());
    let Some(slots) = slots::lock_of(db, &claim.turn_id).await? else { return Ok(Fenced::Stale) };
    let Some(held) = held::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    let task = OperationKey::Task(claim.turn_id.task());
    let Some(operation) = super::find(db, &task).await? else {
        return Err(Fault::broken("the turn carries out no operation"));
    };
    if operation.state == OperationState::Ended || held.cancel_requested {
        db.query(GO_ON, &[&turn]).await?;
    } else {
        let accept = "UPDATE operation SET state = 'accepted' WHERE turn_id = $1";
        db.query(accept, &[&turn]).await?;
        db.query(REST, &[&turn, &seconds(at_most)]).await?;
    }
    admit_in(db, store.caps, &slots).await?;
    Ok(Fenced::Done(()))
}

/// The time of this operation is over: it waits for a place, and gets it if one is free. Nothing else could notice,
/// because nothing happens at that moment.
pub(in super::super) async fn rouse(store: &Postgres, turn: &TurnId) -> Result<(), Fault> {
    let db = Connection::begin(&store.pool).await?;
    if let Some(slots) = slots::lock_of(&db, turn).await? {
        let waits = db
            .query_opt(
                "UPDATE turn SET rests_until = NULL, due = NULL
                 WHERE id = $1 AND status = 'queued' AND rests_until <= clock_timestamp()
                 RETURNING id",
                &[&Text(turn.as_str())],
            )
            .await?;
        if waits.is_some() {
            admit_in(&db, store.caps, &slots).await?;
        }
    }
    db.commit().await
}
