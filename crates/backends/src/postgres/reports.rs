//! Aggregates over many turns and executions.

use async_trait::async_trait;
use futures::future::try_join;
use jiff::SignedDuration;
use ports::PortResult;
use ports::store::{DailyUsage, LiveExecutions, LiveTurn, ProcessWorkload, Reports};
use protocol::UserId;
use tokio_postgres::Row;

use super::PostgresStore;
use super::error::PostgresError;
use super::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::reports::{age, daily_usage, live_execution, live_turn};
use crate::rules::open_call;

#[async_trait]
impl Reports for PostgresStore {
    async fn usage(&self, user: &UserId) -> PortResult<Vec<DailyUsage>> {
        self.read(|db| async move {
            let days = db.query(USAGE, &[&TextParam(user.as_str())]).await?;
            days.iter().map(daily_usage).collect()
        })
        .await
    }

    async fn live_turns(&self, limit: u32) -> PortResult<Vec<LiveTurn>> {
        let now = self.wall_us();
        self.read(|db| async move {
            let (limit, rows) = (i64::from(limit), i64::from(open_call::LAST_ROWS));
            let turns = db.query(TURNS, &[&limit, &rows]).await?;
            turns
                .iter()
                .map(|row| live_turn(row, &row.try_get::<_, Vec<String>>("answered")?, now))
                .collect()
        })
        .await
    }

    async fn live_executions(&self, limit: u32) -> PortResult<LiveExecutions> {
        let now = self.wall_us();
        self.read(|db| async move {
            let limit = i64::from(limit);
            let (runs, oldest) =
                try_join(db.query(EXECUTIONS, &[&limit]), db.query_one(OLDEST_QUEUED, &[])).await?;
            let runs = runs.iter().map(|row| live_execution(row, now)).collect::<Result<_, _>>()?;
            let since = oldest.optional_integer("created_at")?;
            Ok(LiveExecutions { runs, oldest_queued: since.map(|since| age(since, now)) })
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

fn workload(row: &Row) -> Result<ProcessWorkload, PostgresError> {
    let left: Option<f64> = row.try_get("lease_left")?;
    Ok(ProcessWorkload {
        process: row.text("process")?,
        turns: row.number("turns")?,
        executions: row.number("executions")?,
        lease_left: left.and_then(|left| SignedDuration::try_from_secs_f64(left).ok()),
    })
}
