//! The one way a turn ends. All of it is one transaction: nobody can see the last chunk of a turn that
//! is not over, or a turn that is over without its last chunk.

use ports::Fenced;
use ports::store::Ending;
use ports::stream_log::Appended;
use protocol::TurnId;
use protocol::turn::Claim;
use rusqlite::{Connection, params};

use super::super::fault::Fault;
use super::super::job::Done;
use super::super::live::{LogEnd, News};
use super::super::messages::{self, Belongs};
use super::super::{Moment, stream_log};
use super::journal::add_usage;
use super::{held, open_after};

pub(super) fn finish(
    db: &Connection,
    now: Moment,
    claim: &Claim,
    ending: &Ending,
) -> Result<Done<Fenced<Option<TurnId>>>, Fault> {
    if !ending.status.is_final() {
        return Err(Fault::broken(format!("{} is no end of a turn", ending.status.as_str())));
    }
    let Some(ordinal) = held(db, claim)? else { return Ok(Done::quietly(Fenced::Stale)) };
    let to = Belongs { session: &claim.session_id, turn: &claim.turn_id, ordinal };
    for message in &ending.messages {
        messages::insert(db, to, message, now.wall_us)?;
    }
    add_usage(db, claim, &ending.usage)?;
    end_row(db, now, claim, ending)?;
    let task = claim.turn_id.task();
    match stream_log::append(db, &task, claim.fence, &ending.last, LogEnd::Sealed)? {
        Appended::Stored => {}
        refused => {
            return Err(Fault::broken(format!(
                "the last chunks of a turn were refused: {refused:?}"
            )));
        }
    }
    let next = promote(db, now, claim, ordinal)?;
    let segment = ending.last.clone();
    let news = News::LogGrew { task, segment, end: LogEnd::Sealed };
    Ok(Done::with(Fenced::Done(next), news))
}

fn end_row(db: &Connection, now: Moment, claim: &Claim, ending: &Ending) -> Result<(), Fault> {
    // Measured on the clock that does not jump, unless another process began the turn.
    let duration: Option<i64> = db
        .prepare_cached(
            "UPDATE turn SET status = ?2, error_code = ?3, error_message = ?4, ended_at = ?5,
                 ended_boot = ?6, ended_ms = ?7, due_ms = NULL, lease_until_ms = NULL, worker = NULL
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

fn promote(
    db: &Connection,
    now: Moment,
    claim: &Claim,
    ordinal: i64,
) -> Result<Option<TurnId>, Fault> {
    let Some((next, _)) = open_after(db, &claim.session_id, ordinal)? else { return Ok(None) };
    db.prepare_cached("UPDATE turn SET due_ms = ?2 WHERE id = ?1")?
        .execute(params![next.as_str(), now.ms])?;
    Ok(Some(next))
}
