//! Rows of reports about many turns and executions. `now` is the time of day in microseconds.

use std::time::Duration;

use jiff::tz::TimeZone;
use ports::store::{DailyUsage, LiveExecution, LiveJob, LiveTurn, OpenTurns};

use super::StoreRow;
use super::turns::usage;
use crate::rules::open_call::open_tool;

pub(crate) fn daily_usage<R: StoreRow>(row: &R) -> Result<DailyUsage, R::Error> {
    let date = row.time("day")?.to_zoned(TimeZone::UTC).date();
    Ok(DailyUsage { date, turns: row.number("turns")?, usage: usage(row)? })
}

/// `answered`: the calls of the turn that have a result.
pub(crate) fn live_turn<R: StoreRow>(
    row: &R,
    answered: &[String],
    now: i64,
) -> Result<LiveTurn, R::Error> {
    Ok(LiveTurn {
        id: row.id("id")?,
        session_id: row.id("session_id")?,
        user_id: row.optional_id("user_id")?,
        status: row.word("status")?,
        job: live_job(row, now)?,
        tool: open_tool(row.optional_str("calls")?, answered),
    })
}

pub(crate) fn live_execution<R: StoreRow>(row: &R, now: i64) -> Result<LiveExecution, R::Error> {
    Ok(LiveExecution {
        id: row.id("id")?,
        graph_id: row.id("graph_id")?,
        user_id: row.id("user_id")?,
        status: row.word("status")?,
        job: live_job(row, now)?,
    })
}

fn live_job<R: StoreRow>(row: &R, now: i64) -> Result<LiveJob, R::Error> {
    Ok(LiveJob {
        age: age(row.integer("created_at")?, now),
        attempt: row.small("attempt")?,
        holder: row.optional_id("worker")?,
    })
}

pub(crate) fn open_turns<R: StoreRow>(row: &R, now: i64) -> Result<OpenTurns, R::Error> {
    Ok(OpenTurns {
        queued: row.number("queued")?,
        running: row.number("running")?,
        oldest_queued: age(row.optional_integer("since")?.unwrap_or(now), now),
    })
}

pub(crate) fn age(since: i64, now: i64) -> Duration {
    Duration::from_micros((now - since).max(0) as u64)
}
