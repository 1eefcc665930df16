//! Finishes a turn, in one transaction: the last chunk and the final status become visible together.

use futures::future::{try_join, try_join_all, try_join5};
use ports::Fenced;
use ports::store::{TurnEnding, TurnFinished};
use ports::stream_log::SegmentAppended;
use protocol::message::MessageRole;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{Segment, TurnId};

use super::claimed_rows::{self, ClaimedRows};
use super::permits::admit_for_keys;
use super::{advisory_locks, settle, usage};
use crate::live::LogEnd;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::messages;
use crate::postgres::stream_log::SEQS;
use crate::postgres::text_param::{TextParam, optional};
use crate::rows::StoreRow;
use crate::rules::append::{LogState, check_segment, judge, refused_end, unstored};
use crate::rules::turn_end::check_final;

pub(crate) async fn finish(
    store: PostgresStore,
    claim: TurnClaim,
    ending: TurnEnding,
) -> Result<Fenced<TurnFinished>, PostgresError> {
    check_final(ending.status)?;
    check_segment(&ending.last, SEQS)?;
    let db = PooledConnection::begin(&store.pool).await?;
    let ended = end(&db, &store, &claim, &ending).await?;
    db.commit().await?;
    match ended {
        FinishOutcome::Stale => Ok(Fenced::Stale),
        FinishOutcome::FollowUpsWait => Ok(Fenced::Done(TurnFinished::FollowUpsWait)),
        FinishOutcome::Done { last, due } => {
            store.feed.grew(&claim.turn_id.task(), claim.fence, &last, LogEnd::Sealed);
            Ok(Fenced::Done(TurnFinished::Ended(due)))
        }
    }
}

enum FinishOutcome {
    Done {
        /// The closing chunks that were stored.
        last: Segment,
        due: Vec<TurnId>,
    },
    FollowUpsWait,
    Stale,
}

async fn end(
    db: &PooledConnection,
    store: &PostgresStore,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<FinishOutcome, PostgresError> {
    let Some(quota_keys) = advisory_locks::lock_of(db, &claim.turn_id).await? else {
        return Ok(FinishOutcome::Stale);
    };
    let Some(claimed) = claimed_rows::lock(db, claim).await? else {
        return Ok(FinishOutcome::Stale);
    };
    let (waits, (log, last)) =
        try_join(settle::follow_ups_wait(db, claim), lock_log(db, claim, ending)).await?;
    if waits && ending.status == TurnStatus::Completed {
        return Ok(FinishOutcome::FollowUpsWait);
    }
    try_join5(
        add_messages(db, store.wall_us(), claim, ending, &claimed),
        end_row(db, store.wall_us(), claim, ending),
        usage::add(db, claim, &ending.usage),
        settle::settle(db, claim, ending),
        seal(db, log, &last),
    )
    .await?;
    Ok(FinishOutcome::Done { last, due: admit_for_keys(db, store.caps, &quota_keys).await? })
}

/// Locks the turn's stream log and returns it with the closing chunks, without those already stored by an append whose
/// reply was lost. The chunks must continue the log.
async fn lock_log(
    db: &PooledConnection,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(i64, Segment), PostgresError> {
    let log = db
        .query_opt(
            "SELECT id, fence, last_seq, sealed FROM log WHERE task_id = $1 FOR UPDATE",
            &[&TextParam(claim.turn_id.as_str())],
        )
        .await?;
    let state = log.as_ref().map(LogState::read).transpose()?;
    let last = unstored(&ending.last, state.map_or(0, |log| log.last));
    match (judge(state, claim.fence, last.first), log) {
        (SegmentAppended::Stored, Some(log)) => Ok((log.integer("id")?, last)),
        (refused, _) => Err(refused_end(&refused).into()),
    }
}

/// Adds the last messages, and sets the duration of the turn's last response.
async fn add_messages(
    db: &PooledConnection,
    wall_us: i64,
    claim: &TurnClaim,
    ending: &TurnEnding,
    claimed: &ClaimedRows,
) -> Result<(), PostgresError> {
    let to = claimed.message_position(claim, wall_us);
    let answer = ending.messages.iter().rposition(|message| message.role == MessageRole::Assistant);
    let inserts = (claimed.last_sequence + 1..).zip(ending.messages.iter().enumerate()).map(
        |(sequence, (n, message))| {
            let duration = (Some(n) == answer).then_some(claimed.ran_ms);
            messages::insert(db, to, sequence, message, duration)
        },
    );
    try_join_all(inserts).await?;
    let session = TextParam(claim.session_id.as_str());
    if answer.is_none() {
        db.query(
            "UPDATE message SET duration_ms = $3 WHERE session_id = $1 AND sequence = (
                 SELECT sequence FROM message
                 WHERE session_id = $1 AND turn_id = $2 AND role = 'assistant'
                 ORDER BY sequence DESC LIMIT 1)",
            &[&session, &TextParam(claim.turn_id.as_str()), &claimed.ran_ms],
        )
        .await?;
    }
    let last = claimed.last_sequence + ending.messages.len() as i64;
    db.query(
        "UPDATE session SET last_sequence = $2, updated_at = $3, title = coalesce(title, $4)
         WHERE id = $1",
        &[&session, &last, &wall_us, &optional(ending.title.as_deref())],
    )
    .await?;
    Ok(())
}

async fn end_row(
    db: &PooledConnection,
    wall_us: i64,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(), PostgresError> {
    let error = ending.error.as_ref();
    db.query(
        "UPDATE turn SET status = $2, error_code = $3, error_message = $4, ended_at = $5,
             ended = clock_timestamp(), due = NULL, lease_until = NULL, worker = NULL, aside = 0
         WHERE id = $1",
        &[
            &TextParam(claim.turn_id.as_str()),
            &ending.status.as_str(),
            &error.map(|error| error.code.as_str()),
            &optional(error.map(|error| error.message.as_str())),
            &wall_us,
        ],
    )
    .await?;
    Ok(())
}

async fn seal(db: &PooledConnection, log: i64, last: &Segment) -> Result<(), PostgresError> {
    db.query(
        "WITH sealed AS (UPDATE log SET last_seq = $3, sealed = true WHERE id = $1 RETURNING id)
         INSERT INTO segment (log_id, first_seq, last_seq, bytes)
         SELECT id, $2, $3, $4 FROM sealed",
        &[&log, &(last.first as i64), &(last.last as i64), &&last.bytes[..]],
    )
    .await?;
    Ok(())
}
