//! The one way a turn ends. All of it is one transaction: nobody can see the last chunk of a turn that
//! is not over, or a turn that is over without its last chunk.

use futures::future::{try_join, try_join_all, try_join5};
use ports::Fenced;
use ports::store::{TurnEnding, TurnFinished};
use ports::stream_log::SegmentAppended;
use protocol::message::MessageRole;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{Segment, TurnId};

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::messages::{self, Belongs};
use super::super::rows;
use super::super::stream_log::{check, judge};
use super::super::text::{Text, optional};
use super::held::{self, Held};
use super::places::admit_in;
use super::{settle, slots, usage};
use crate::live::LogEnd;

pub(super) async fn finish(
    store: Postgres,
    claim: TurnClaim,
    ending: TurnEnding,
) -> Result<Fenced<TurnFinished>, Fault> {
    if !ending.status.is_final() {
        return Err(Fault::broken(format!("{} is no end of a turn", ending.status.as_str())));
    }
    check(&ending.last)?;
    let db = Connection::begin(&store.pool).await?;
    let ended = end(&db, &store, &claim, &ending).await?;
    db.commit().await?;
    match ended {
        End::Stale => Ok(Fenced::Stale),
        End::FollowUpsWait => Ok(Fenced::Done(TurnFinished::FollowUpsWait)),
        End::Done { last, due } => {
            store.feed.grew(&claim.turn_id.task(), claim.fence, &last, LogEnd::Sealed);
            Ok(Fenced::Done(TurnFinished::Ended(due)))
        }
    }
}

enum End {
    Done {
        /// What was stored of the closing chunks.
        last: Segment,
        due: Vec<TurnId>,
    },
    FollowUpsWait,
    Stale,
}

async fn end(
    db: &Connection,
    store: &Postgres,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<End, Fault> {
    let Some(slots) = slots::lock_of(db, &claim.turn_id).await? else { return Ok(End::Stale) };
    let Some(held) = held::lock(db, claim).await? else { return Ok(End::Stale) };
    let (waits, (log, last)) =
        try_join(settle::follow_ups_wait(db, claim), fitting_log(db, claim, ending)).await?;
    if waits && ending.status == TurnStatus::Completed {
        return Ok(End::FollowUpsWait);
    }
    try_join5(
        say(db, store.wall_us(), claim, ending, &held),
        end_row(db, store.wall_us(), claim, ending),
        usage::add(db, claim, &ending.usage),
        settle::settle(db, claim, ending),
        seal(db, log, &last),
    )
    .await?;
    Ok(End::Done { last, due: admit_in(db, store.caps, &slots).await? })
}

/// Locks the turn's log and gives it with the closing chunks, without those that an append whose answer was not heard
/// has stored. They have to follow what is there.
async fn fitting_log(
    db: &Connection,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(i64, Segment), Fault> {
    let log = db
        .query_opt(
            "SELECT id, fence, last_seq, sealed FROM log WHERE task_id = $1 FOR UPDATE",
            &[&Text(claim.turn_id.as_str())],
        )
        .await?;
    let stored = log.as_ref().map(|log| rows::number(log, "last_seq")).transpose()?;
    let last = ending.last.after(stored.unwrap_or(0)).unwrap_or_else(|| ending.last.clone());
    match (judge(log.as_ref(), claim.fence, last.first)?, log) {
        (SegmentAppended::Stored, Some(log)) => Ok((rows::get(&log, "id")?, last)),
        (refused, _) => {
            Err(Fault::broken(format!("the last chunks of a turn were refused: {refused:?}")))
        }
    }
}

/// Adds the last messages, and to the last answer of the turn how long it took.
async fn say(
    db: &Connection,
    wall_us: i64,
    claim: &TurnClaim,
    ending: &TurnEnding,
    held: &Held,
) -> Result<(), Fault> {
    let ordinal = held.rows_ordinal();
    let to = Belongs { session: &claim.session_id, turn: &claim.turn_id, ordinal, wall_us };
    let answer = ending.messages.iter().rposition(|message| message.role == MessageRole::Assistant);
    let inserts = (held.last_sequence + 1..).zip(ending.messages.iter().enumerate()).map(
        |(sequence, (n, message))| {
            let duration = (Some(n) == answer).then_some(held.ran_ms);
            messages::insert(db, to, sequence, message, duration)
        },
    );
    try_join_all(inserts).await?;
    let session = Text(claim.session_id.as_str());
    if answer.is_none() {
        db.query(
            "UPDATE message SET duration_ms = $3 WHERE session_id = $1 AND sequence = (
                 SELECT sequence FROM message
                 WHERE session_id = $1 AND turn_id = $2 AND role = 'assistant'
                 ORDER BY sequence DESC LIMIT 1)",
            &[&session, &Text(claim.turn_id.as_str()), &held.ran_ms],
        )
        .await?;
    }
    let last = held.last_sequence + ending.messages.len() as i64;
    db.query(
        "UPDATE session SET last_sequence = $2, updated_at = $3, title = coalesce(title, $4)
         WHERE id = $1",
        &[&session, &last, &wall_us, &optional(ending.title.as_deref())],
    )
    .await?;
    Ok(())
}

async fn end_row(
    db: &Connection,
    wall_us: i64,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(), Fault> {
    let error = ending.error.as_ref();
    db.query(
        "UPDATE turn SET status = $2, error_code = $3, error_message = $4, ended_at = $5,
             ended = clock_timestamp(), due = NULL, lease_until = NULL, worker = NULL, aside = 0
         WHERE id = $1",
        &[
            &Text(claim.turn_id.as_str()),
            &ending.status.as_str(),
            &error.map(|error| error.code.as_str()),
            &optional(error.map(|error| error.message.as_str())),
            &wall_us,
        ],
    )
    .await?;
    Ok(())
}

async fn seal(db: &Connection, log: i64, last: &Segment) -> Result<(), Fault> {
    db.query(
        "WITH sealed AS (UPDATE log SET last_seq = $3, sealed = true WHERE id = $1 RETURNING id)
         INSERT INTO segment (log_id, first_seq, last_seq, bytes)
         SELECT id, $2, $3, $4 FROM sealed",
        &[&log, &(last.first as i64), &(last.last as i64), &&last.bytes[..]],
    )
    .await?;
    Ok(())
}
