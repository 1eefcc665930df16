//! The one way a turn ends. All of it is one transaction: nobody can see the last chunk of a turn that
//! is not over, or a turn that is over without its last chunk.

use ports::Fenced;
use ports::store::{TurnEnding, TurnFinished};
use ports::stream_log::SegmentAppended;
use protocol::limits::UserLimits;
use protocol::turn::{TurnClaim, TurnStatus};
use protocol::{Segment, Seq, TurnId};
use rusqlite::{Connection, OptionalExtension, params};

use super::super::fault::Fault;
use super::super::job::Done;
use super::super::{Moment, follow_ups, messages, operations, stream_log};
use super::journal::add_usage;
use super::places::{admit, slot_of, slot_of_turn};
use super::{held, parked};
use crate::live::{LogEnd, News};

pub(super) fn finish(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<Done<Fenced<TurnFinished>>, Fault> {
    if !ending.status.is_final() {
        return Err(Fault::broken(format!("{} is no end of a turn", ending.status.as_str())));
    }
    let Some(held) = held(db, claim)? else { return Ok(Done::quietly(Fenced::Stale)) };
    if ending.status == TurnStatus::Completed && follow_ups::waiting(db, &claim.turn_id)? > 0 {
        return Ok(Done::quietly(Fenced::Done(TurnFinished::FollowUpsWait)));
    }
    follow_ups::settle(db, &claim.turn_id, ending.status)?;
    parked::end_all(db, &claim.turn_id)?;
    operations::settle(db, &claim.turn_id, ending.operation.as_ref())?;
    let to = held.rows_of(claim);
    for message in &ending.messages {
        messages::insert(db, to, message, now.wall_us)?;
    }
    add_usage(db, claim, &ending.usage)?;
    end_row(db, now, claim, ending)?;
    let task = claim.turn_id.task();
    let last = unstored(db, claim, ending)?;
    match stream_log::append(db, &task, claim.fence, &last, LogEnd::Sealed)? {
        SegmentAppended::Stored => {}
        refused => {
            return Err(Fault::broken(format!(
                "the last chunks of a turn were refused: {refused:?}"
            )));
        }
    }
    let due = admit_next(db, now, caps, claim)?;
    let news = News::LogGrew { task, segment: last, end: LogEnd::Sealed };
    Ok(Done::with(Fenced::Done(TurnFinished::Ended(due)), news))
}

/// The closing chunks without those that an append whose answer was not heard has stored.
fn unstored(db: &Connection, claim: &TurnClaim, ending: &TurnEnding) -> Result<Segment, Fault> {
    let stored: Option<i64> = db
        .prepare_cached("SELECT last_seq FROM log WHERE task_id = ?1")?
        .query_row([claim.turn_id.as_str()], |row| row.get(0))
        .optional()?;
    let stored = stored.unwrap_or_default() as Seq;
    Ok(ending.last.after(stored).unwrap_or_else(|| ending.last.clone()))
}

fn end_row(
    db: &Connection,
    now: Moment,
    claim: &TurnClaim,
    ending: &TurnEnding,
) -> Result<(), Fault> {
    // Measured on the clock that does not jump, unless another process began the turn.
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

/// The place of the turn that has ended goes to the next one of its slot. Its session may have been given to a user
/// since: then the turns after it count for that user.
fn admit_next(
    db: &Connection,
    now: Moment,
    caps: UserLimits,
    claim: &TurnClaim,
) -> Result<Vec<TurnId>, Fault> {
    let mine = slot_of_turn(db, &claim.turn_id)?;
    let mut due = admit(db, now, caps, &mine)?;
    let next = slot_of(db, &claim.session_id)?;
    if next != mine {
        due.extend(admit(db, now, caps, &next)?);
    }
    Ok(due)
}
