//! Operations whose work is done elsewhere: they rest without a permit and without a worker, until they are completed
//! or cancelled, or their time is over. That time is on the clock of the database, so a restart does not change it.

use std::time::Duration;

use ports::Fenced;
use ports::store::OperationKey;
use protocol::TurnId;
use protocol::operation::OperationState;
use protocol::turn::TurnClaim;

use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::leases::seconds;
use crate::postgres::text_param::TextParam;
use crate::postgres::turns::permits::admit_for_keys;
use crate::postgres::turns::{advisory_locks, claimed_rows};

/// Releases the lease in good order, so that it does not count as a crashed attempt.
const REST: &str = "\
    UPDATE turn SET status = 'queued', worker = NULL, lease_until = NULL,
        attempt = greatest(0, attempt - 1), admitted = false, aside = 0,
        rests_until = clock_timestamp() + $2 * interval '1 second',
        due = clock_timestamp() + $2 * interval '1 second'
    WHERE id = $1";

/// There is nothing left to wait for: the turn keeps its permit and is due at once.
const KEEP_PERMIT: &str = "\
    UPDATE turn SET status = 'queued', worker = NULL, lease_until = NULL,
        attempt = greatest(0, attempt - 1), aside = 0, due = clock_timestamp()
    WHERE id = $1";

pub(crate) async fn accepted(
    store: PostgresStore,
    claim: TurnClaim,
    at_most: Duration,
) -> Result<Fenced<()>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let rests = rest(&db, &store, &claim, at_most).await?;
    db.commit().await?;
    Ok(rests)
}

async fn rest(
    db: &PooledConnection,
    store: &PostgresStore,
    claim: &TurnClaim,
    at_most: Duration,
) -> Result<Fenced<()>, PostgresError> {
    let turn = TextParam(claim.turn_id.as_str());
    let Some(quota_keys) = advisory_locks::lock_of(db, &claim.turn_id).await? else {
        return Ok(Fenced::Stale);
    };
    let Some(claimed) = claimed_rows::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    let task = OperationKey::Task(claim.turn_id.task());
    let Some(operation) = super::find(db, &task).await? else {
        return Err(PostgresError::broken("the turn carries out no operation"));
    };
    if operation.state == OperationState::Ended || claimed.cancel_requested {
        db.query(KEEP_PERMIT, &[&turn]).await?;
    } else {
        let accept = "UPDATE operation SET state = 'accepted' WHERE turn_id = $1";
        db.query(accept, &[&turn]).await?;
        db.query(REST, &[&turn, &seconds(at_most)]).await?;
    }
    admit_for_keys(db, store.caps, &quota_keys).await?;
    Ok(Fenced::Done(()))
}

/// The rest of this operation is over: it waits for a permit, and gets one if one is free. Called by the claim,
/// because no event occurs at that time.
pub(crate) async fn end_rest(store: &PostgresStore, turn: &TurnId) -> Result<(), PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    if let Some(quota_keys) = advisory_locks::lock_of(&db, turn).await? {
        let waits = db
            .query_opt(
                "UPDATE turn SET rests_until = NULL, due = NULL
                 WHERE id = $1 AND status = 'queued' AND rests_until <= clock_timestamp()
                 RETURNING id",
                &[&TextParam(turn.as_str())],
            )
            .await?;
        if waits.is_some() {
            admit_for_keys(&db, store.caps, &quota_keys).await?;
        }
    }
    db.commit().await
}
