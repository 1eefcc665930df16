//! Aggregates over many turns and executions.

use std::time::Duration;

use async_trait::async_trait;
use futures::future::try_join;
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use ports::PortResult;
use ports::store::{DailyUsage, LiveExecution, LiveExecutions, LiveTurn, ProcessWorkload, Reports};
use protocol::UserId;
use protocol::execution::ExecutionStatus;
use tokio_postgres::Row;

use super::error::PostgresError;
use super::text_param::TextParam;
use super::{PostgresStore, rows};
use crate::{open_call, words};

#[async_trait]
impl Reports for PostgresStore {
    async fn usage(&self, user: &UserId) -> PortResult<Vec<DailyUsage>> {
        self.read(|db| async move {
            let days = db.query(USAGE, &[&TextParam(user.as_str())]).await?;
            days.iter().map(day).collect()
        })
        .await
    }

    async fn live_turns(&self, limit: u32) -> PortResult<Vec<LiveTurn>> {
        let now = self.wall_us();
        self.read(|db| async move {
            let (limit, rows) = (i64::from(limit), i64::from(open_call::LAST_ROWS));
            let turns = db.query(TURNS, &[&limit, &rows]).await?;
            turns.iter().map(|row| turn(row, now)).collect()
        })
        .await
    }

    async fn live_executions(&self, limit: u32) -> PortResult<LiveExecutions> {
        let now = self.wall_us();
        self.read(|db| async move {
            let limit = i64::from(limit);
            let (runs, oldest) =
                try_join(db.query(EXECUTIONS, &[&limit]), db.query_one(OLDEST_QUEUED, &[])).await?;
            let runs = runs.iter().map(|row| execution(row, now)).collect::<Result<_, _>>()?;
            let since: Option<i64> = rows::get(&oldest, "created_at")?;
            Ok(LiveExecutions { runs, oldest_queued: since.map(|since| before(since, now)) })
        })
        .await
    }

    async fn workloads(&self) -> PortResult<Vec<ProcessWorkload>> {
        self.read(
            |db| async move { db.query(WORKLOADS, &[]).await?.iter().map(workload).collect() },
        )
        .await
    }
}

/// Sums of integers have a wider type than their input; the casts back are safe for any realistic usage.
const USAGE: &str = "
    SELECT min(t.created_at) AS day, count(*) AS turns,
        sum(t.prompt_tokens)::bigint AS prompt_tokens,
        sum(t.completion_tokens)::bigint AS completion_tokens,
        sum(t.cache_read_tokens)::bigint AS cache_read_tokens,
        sum(t.cache_write_tokens)::bigint AS cache_write_tokens,
        sum(t.cost_microdollars)::bigint AS cost_microdollars
    FROM session AS s JOIN turn AS t ON t.session_id = s.id
    WHERE s.user_id = $1 AND t.ordinal > 0
    GROUP BY t.created_at / 86400000000 ORDER BY 1";

const TURNS: &str = "
    SELECT t.id, t.session_id, s.user_id, t.status, t.attempt, t.created_at,
        CASE WHEN t.status = 'running' THEN t.worker END AS worker,
        (SELECT m.tool_calls
         FROM (SELECT sequence, turn_id, tool_calls FROM message
               WHERE t.status = 'running' AND session_id = t.session_id
               ORDER BY sequence DESC LIMIT $2) AS m
         WHERE m.turn_id = t.id AND m.tool_calls IS NOT NULL
         ORDER BY m.sequence DESC LIMIT 1) AS calls,
        array(SELECT a.tool_call_id FROM message AS a
              WHERE a.turn_id = t.id AND a.tool_call_id IS NOT NULL) AS answered
    FROM turn AS t JOIN session AS s ON s.id = t.session_id
    WHERE t.status IN ('queued', 'running') AND t.ordinal > 0
    ORDER BY t.accepted LIMIT $1";

const EXECUTIONS: &str = "
    SELECT id, graph_id, user_id, status, attempt, created_at,
        CASE WHEN status = 'RUNNING' THEN worker END AS worker
    FROM execution WHERE status IN ('QUEUED', 'RUNNING') ORDER BY number LIMIT $1";

const OLDEST_QUEUED: &str =
    "SELECT min(created_at) AS created_at FROM execution WHERE status = 'QUEUED'";

const WORKLOADS: &str = "
    SELECT split_part(worker, '/', 1) AS process, count(turn) AS turns, count(run) AS executions,
        extract(epoch FROM max(lease_until) - clock_timestamp())::float8 AS lease_left
    FROM (SELECT worker, lease_until, 1 AS turn, NULL::integer AS run
          FROM turn WHERE status = 'running' AND ordinal > 0
          UNION ALL
          SELECT worker, lease_until, NULL, 1 FROM execution WHERE status = 'RUNNING') AS held
    WHERE worker IS NOT NULL GROUP BY 1 ORDER BY 1";

fn day(row: &Row) -> Result<DailyUsage, PostgresError> {
    let date = rows::time(row, "day")?.to_zoned(TimeZone::UTC).date();
    Ok(DailyUsage { date, turns: rows::number(row, "turns")?, usage: rows::usage(row)? })
}

fn turn(row: &Row, now: i64) -> Result<LiveTurn, PostgresError> {
    let calls: Option<String> = rows::get(row, "calls")?;
    let answered: Vec<String> = rows::get(row, "answered")?;
    Ok(LiveTurn {
        id: rows::id(row, "id")?,
        session_id: rows::id(row, "session_id")?,
        user_id: rows::optional_id(row, "user_id")?,
        status: rows::word(row, "status", words::status)?,
        age: before(rows::get(row, "created_at")?, now),
        attempt: rows::small(row, "attempt")?,
        holder: rows::optional_id(row, "worker")?,
        tool: open_call::tool(calls.as_deref(), &answered),
    })
}

fn execution(row: &Row, now: i64) -> Result<LiveExecution, PostgresError> {
    Ok(LiveExecution {
        id: rows::id(row, "id")?,
        graph_id: rows::id(row, "graph_id")?,
        user_id: rows::id(row, "user_id")?,
        status: rows::word(row, "status", ExecutionStatus::parse)?,
        age: before(rows::get(row, "created_at")?, now),
        attempt: rows::small(row, "attempt")?,
        holder: rows::optional_id(row, "worker")?,
    })
}

fn before(since: i64, now: i64) -> Duration {
    Duration::from_micros((now - since).max(0) as u64)
}

fn workload(row: &Row) -> Result<ProcessWorkload, PostgresError> {
    let left: Option<f64> = rows::get(row, "lease_left")?;
    Ok(ProcessWorkload {
        process: rows::get(row, "process")?,
        turns: rows::number(row, "turns")?,
        executions: rows::number(row, "executions")?,
        lease_left: left.and_then(|left| SignedDuration::try_from_secs_f64(left).ok()),
    })
}
