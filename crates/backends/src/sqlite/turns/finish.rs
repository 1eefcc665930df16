//! Finishes a turn, in one transaction: the last chunk and the final status become visible together.

use ports::Fenced;
use ports::store::{TurnEnding, TurnFinished};
use ports::stream_log::SegmentAppended;
use protocol::TurnId;
use protocol::limits::UserLimits;
use protocol::turn::{TurnClaim, TurnStatus};
use rusqlite::{Connection, params};

use super::claimed_rows::find_claimed;
use super::permits::{admit, session_quota_key, turn_quota_key};
use super::{settle, usage};
use crate::live::{LogEnd, StoreEvent};
use crate::rules::append::{refused_end, unstored};
use crate::rules::turn_end::check_final;
use crate::sqlite::error::SqliteError;
use crate::sqlite::write_job::WriteOutput;
use crate::sqlite::{StoreTime, messages, stream_log};

pub(crate) fn finish(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<WriteOutput<Fenced<TurnFinished>>, SqliteError> {
    check_final(ending.status)?;
    let Some(claimed) = find_claimed(db, claim)? else {
        return Ok(WriteOutput::silent(Fenced::Stale));
    };
    if ending.status == TurnStatus::Completed && settle::waiting_follow_ups(db, &claim.turn_id)? > 0
    {
        return Ok(WriteOutput::silent(Fenced::Done(TurnFinished::FollowUpsWait)));
    }
    settle::settle(db, claim, ending)?;
    let to = claimed.message_position(claim, now.wall_us);
    for message in &ending.messages {
        messages::insert(db, to, message)?;
    }
    usage::add(db, claim, &ending.usage)?;
    end_row(db, now, claim, ending)?;
    let task = claim.turn_id.task();
    let stored = stream_log::log_state(db, &task)?.map_or(0, |log| log.last);
    let last = unstored(&ending.last, stored);
    match stream_log::append(db, &task, claim.fence, &last, LogEnd::Sealed)? {
        SegmentAppended::Stored => {}
        refused => return Err(refused_end(&refused).into()),
    }
    let due = admit_next(db, now, caps, claim)?;
    let news = StoreEvent::LogGrew { task, segment: last, end: LogEnd::Sealed };
    Ok(WriteOutput::with_event(Fenced::Done(TurnFinished::Ended(due)), news))
}

fn end_row(
    db: &Connection,
    now: StoreTime,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(), SqliteError> {
    // Measured on the monotonic clock, unless another process started the turn.
    let duration: Option<i64> = db
        .prepare_cached(
            "UPDATE turn SET status = ?2, error_code = ?3, error_message = ?4, ended_at = ?5,
                 ended_boot = ?6, ended_ms = ?7, due_ms = NULL, lease_until_ms = NULL, worker = NULL, aside = 0
             WHERE id = ?1
             RETURNING CASE WHEN started_boot = ?6 THEN ?7 - started_ms
                            ELSE max(0, (?5 - started_at) / 1000) END",
        )?
        .query_row(
            params![
                claim.turn_id.as_str(),
                ending.status.as_str(),
                ending.error.as_ref().map(|error| error.code.as_str()),
                ending.error.as_ref().map(|error| &error.message),
                now.wall_us,
                now.boot,
                now.ms,
            ],
            |row| row.get(0),
        )?;
    db.prepare_cached(
        "UPDATE message SET duration_ms = ?3 WHERE session_id = ?1 AND sequence = (
             SELECT sequence FROM message
             WHERE session_id = ?1 AND turn_id = ?2 AND role = 'assistant'
             ORDER BY sequence DESC LIMIT 1)",
    )?
    .execute(params![claim.session_id.as_str(), claim.turn_id.as_str(), duration])?;
    db.prepare_cached(
        "UPDATE session SET updated_at = ?2, title = ifnull(title, ?3) WHERE id = ?1",
    )?
    .execute(params![claim.session_id.as_str(), now.wall_us, ending.title])?;
    Ok(())
}

/// Gives the permit of the finished turn to the next one of its quota key. If the session was assigned to a user
/// since, its later turns count for that user.
fn admit_next(
    db: &Connection,
    now: StoreTime,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<Vec<TurnId>, SqliteError> {
    let mine = turn_quota_key(db, &claim.turn_id)?;
    let mut due = admit(db, now, caps, &mine)?;
    let next = session_quota_key(db, &claim.session_id)?;
    if next != mine {
        due.extend(admit(db, now, caps, &next)?);
    }
    Ok(due)
}
