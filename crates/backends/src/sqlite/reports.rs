//! Aggregates over many turns and executions.

use async_trait::async_trait;
use jiff::SignedDuration;
use ports::PortResult;
use ports::store::{DailyUsage, LiveExecutions, LiveTurn, ProcessWorkload, Reports};
use protocol::UserId;
use rusqlite::{Connection, OptionalExtension};

use super::error::SqliteError;
use super::{SqliteStore, StoreTime};
use crate::rows::StoreRow;
use crate::rows::reports::{age, daily_usage, live_execution, live_turn};
use crate::rules::open_call;

#[async_trait]
impl Reports for SqliteStore {
    async fn usage(&self, user: &UserId) -> PortResult<Vec<DailyUsage>> {
        let user = user.clone();
        self.readers.run(move |db| usage(db, &user)).await
    }

    async fn live_turns(&self, limit: u32) -> PortResult<Vec<LiveTurn>> {
        let now = self.store_time();
        self.readers.run(move |db| live_turns(db, now, limit)).await
    }

    async fn live_executions(&self, limit: u32) -> PortResult<LiveExecutions> {
        let now = self.store_time();
        self.readers.run(move |db| live_executions(db, now, limit)).await
    }

    async fn workloads(&self) -> PortResult<Vec<ProcessWorkload>> {
        let now = self.store_time();
        self.readers.run(move |db| workloads(db, now)).await
    }
}

fn usage(db: &Connection, user: &UserId) -> Result<Vec<DailyUsage>, SqliteError> {
    let days = db
        .prepare_cached(
            "SELECT min(t.created_at) AS day, count(*) AS turns,
                 sum(t.prompt_tokens) AS prompt_tokens, sum(t.completion_tokens) AS completion_tokens,
                 sum(t.cache_read_tokens) AS cache_read_tokens,
                 sum(t.cache_write_tokens) AS cache_write_tokens,
                 sum(t.cost_microdollars) AS cost_microdollars
             FROM session AS s JOIN turn AS t ON t.session_id = s.id
             WHERE s.user_id = ?1 AND t.ordinal > 0
             GROUP BY t.created_at / 86400000000 ORDER BY 1",
        )?
        .query_map([user.as_str()], |row| daily_usage(row))?
        .collect::<Result<_, _>>()?;
    Ok(days)
}

fn live_turns(db: &Connection, now: StoreTime, limit: u32) -> Result<Vec<LiveTurn>, SqliteError> {
    let turns = db
        .prepare_cached(
            "SELECT t.id, t.session_id, s.user_id, t.status, t.attempt, t.created_at,
                 iif(t.status = 'running', t.worker, NULL) AS worker,
                 (SELECT m.tool_calls
                  FROM (SELECT sequence, turn_id, tool_calls FROM message
                        WHERE t.status = 'running' AND session_id = t.session_id
                        ORDER BY sequence DESC LIMIT ?2) AS m
                  WHERE m.turn_id = t.id AND m.tool_calls IS NOT NULL
                  ORDER BY m.sequence DESC LIMIT 1) AS calls,
                 (SELECT json_group_array(a.tool_call_id) FROM message AS a
                  WHERE a.turn_id = t.id AND a.tool_call_id IS NOT NULL) AS answered
             FROM turn AS t JOIN session AS s ON s.id = t.session_id
             WHERE t.status IN ('queued', 'running') AND t.ordinal > 0
             ORDER BY t.created_at, t.rowid LIMIT ?1",
        )?
        .query_map([limit, open_call::LAST_ROWS], |row| {
            live_turn(row, &row.json::<Vec<String>>("answered")?, now.wall_us)
        })?
        .collect::<Result<_, _>>()?;
    Ok(turns)
}

fn live_executions(
    db: &Connection,
    now: StoreTime,
    limit: u32,
) -> Result<LiveExecutions, SqliteError> {
    // Each status literally in the text, so that SQLite can choose the matching partial index.
    let runs = db
        .prepare_cached(
            "SELECT * FROM (
                 SELECT number, id, graph_id, user_id, status, attempt, created_at, worker
                 FROM execution WHERE status = 'RUNNING'
                 UNION ALL
                 SELECT number, id, graph_id, user_id, status, attempt, created_at, NULL
                 FROM execution WHERE status = 'QUEUED')
             ORDER BY number LIMIT ?1",
        )?
        .query_map([limit], |row| live_execution(row, now.wall_us))?
        .collect::<Result<_, _>>()?;
    let oldest_queued = db
        .prepare_cached(
            "SELECT created_at FROM execution WHERE status = 'QUEUED' ORDER BY number LIMIT 1",
        )?
        .query_row([], |row| Ok(age(row.integer("created_at")?, now.wall_us)))
        .optional()?;
    Ok(LiveExecutions { runs, oldest_queued })
}

fn workloads(db: &Connection, now: StoreTime) -> Result<Vec<ProcessWorkload>, SqliteError> {
    // Leases of earlier processes were set to zero when this one opened the store, because its clock starts at zero.
    let workloads = db
        .prepare_cached(
            "SELECT substr(worker, 1, instr(worker || '/', '/') - 1) AS process,
                 count(turn) AS turns, count(run) AS executions,
                 nullif(max(lease_until_ms), 0) AS lease_until_ms
             FROM (SELECT worker, lease_until_ms, 1 AS turn, NULL AS run
                   FROM turn WHERE status = 'running' AND ordinal > 0
                   UNION ALL
                   SELECT worker, lease_until_ms, NULL, 1
                   FROM execution WHERE status = 'RUNNING')
             WHERE worker IS NOT NULL GROUP BY process ORDER BY process",
        )?
        .query_map([], |row| {
            let until: Option<i64> = row.get("lease_until_ms")?;
            Ok(ProcessWorkload {
                process: row.get("process")?,
                turns: row.number("turns")?,
                executions: row.number("executions")?,
                lease_left: until.map(|until| SignedDuration::from_millis(until - now.ms)),
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(workloads)
}
