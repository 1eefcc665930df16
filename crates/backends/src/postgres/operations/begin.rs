//! Begins an operation: stores its row, its turn with stream log and outbox entry, and the pending message, in one
//! transaction.

use futures::future::{try_join, try_join3};
use ports::Fenced;
use ports::store::{NewOperation, OperationBegun};
use protocol::limits;
use protocol::operation::Operation;
use protocol::turn::TurnClaim;

use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::messages;
use crate::postgres::text_param::TextParam;
use crate::postgres::turns::advisory_locks;
use crate::postgres::turns::claimed_rows::{self, ClaimedRows};
use crate::postgres::turns::insert::{TurnInsert, insert};
use crate::postgres::turns::permits::permit_usage;
use crate::rows::StoreRow;
use crate::rows::operations::{operation, operation_columns};
use crate::rules::new_operation::check_pending;
use crate::rules::submission_key::SubmissionKey;

pub(crate) async fn begin(
    store: PostgresStore,
    claim: TurnClaim,
    new: NewOperation,
) -> Result<Fenced<OperationBegun>, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let begun = write(&db, &store, &claim, &new).await?;
    db.commit().await?;
    Ok(begun)
}

async fn write(
    db: &PooledConnection,
    store: &PostgresStore,
    claim: &TurnClaim,
    new: &NewOperation,
) -> Result<Fenced<OperationBegun>, PostgresError> {
    check_pending(new)?;
    let Some(quota_key) = advisory_locks::lock_for_new(db, &claim.session_id).await? else {
        return Ok(Fenced::Stale);
    };
    let Some(claimed) = claimed_rows::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    let (existing, at_work) = try_join(of_call(db, claim, new), count(db, claim)).await?;
    if let Some(existing) = existing {
        return Ok(Fenced::Done(OperationBegun::Exists(Box::new(existing))));
    }
    if at_work.open >= u64::from(limits::OPERATIONS) {
        return Ok(Fenced::Done(OperationBegun::TooMany));
    }
    let admitted = permit_usage(db, &quota_key).await?.has_free_permit(store.caps);
    let begun = record(db, store, claim, new, &claimed).await?;
    let turn = TurnInsert {
        id: &new.turn_id,
        session: &claim.session_id,
        ordinal: at_work.next_ordinal,
        quota_key: &quota_key,
        admitted,
        request: &new.request,
        submission: SubmissionKey::default(),
        parent: Some(&claim.turn_id),
        // A cancel that has already marked the calling turn would otherwise miss this one.
        cancel_requested: claimed.cancel_requested,
        push_grace: new.push_grace,
        wall_us: store.wall_us(),
    };
    insert(db, turn).await?;
    let due = admitted || claimed.cancel_requested;
    Ok(Fenced::Done(OperationBegun::New { operation: Box::new(begun), due }))
}

async fn of_call(
    db: &PooledConnection,
    claim: &TurnClaim,
    new: &NewOperation,
) -> Result<Option<Operation>, PostgresError> {
    let row = db
        .query_opt(
            concat!(
                "SELECT ",
                operation_columns!(),
                " FROM operation AS p WHERE p.asked_by = $1 AND p.call_id = $2"
            ),
            &[&TextParam(claim.turn_id.as_str()), &TextParam(new.call.id.as_str())],
        )
        .await?;
    row.as_ref().map(operation).transpose()
}

struct OpenOperations {
    open: u64,
    /// Below the ordinals of all turns of the session that are outside its order.
    next_ordinal: i64,
}

/// Exact for as long as the session is locked.
async fn count(db: &PooledConnection, claim: &TurnClaim) -> Result<OpenOperations, PostgresError> {
    let row = db
        .query_one(
            "SELECT (SELECT count(*) FROM operation WHERE session_id = $1 AND state <> 'ended')
                     AS open,
                 least(0, (SELECT min(ordinal) FROM turn WHERE session_id = $1)) - 1 AS next",
            &[&TextParam(claim.session_id.as_str())],
        )
        .await?;
    Ok(OpenOperations { open: row.number("open")?, next_ordinal: row.integer("next")? })
}

/// Stores the operation and the pending message.
async fn record(
    db: &PooledConnection,
    store: &PostgresStore,
    claim: &TurnClaim,
    new: &NewOperation,
    claimed: &ClaimedRows,
) -> Result<Operation, PostgresError> {
    let (session, wall_us) = (TextParam(claim.session_id.as_str()), store.wall_us());
    let to = claimed.message_position(claim, wall_us);
    let sequence = claimed.last_sequence + 1;
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
                &TextParam(new.id.as_str()),
                &TextParam(new.turn_id.as_str()),
                &session,
                &TextParam(claim.turn_id.as_str()),
                &TextParam(new.call.id.as_str()),
                &TextParam(&new.call.name),
                &TextParam(&new.call.arguments),
                &wall_us,
            ],
        ),
        messages::insert(db, to, sequence, &new.pending, None),
        db.query("UPDATE session SET last_sequence = $2 WHERE id = $1", &[&session, &sequence]),
    )
    .await?;
    operation(&row)
}
