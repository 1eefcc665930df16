//! A group of appends to different stream logs, written by one statement and so with one commit.

use std::collections::{HashMap, HashSet};

use deadpool_postgres::Pool;
use ports::PortResult;
use ports::stream_log::SegmentAppended;
use protocol::{Segment, TaskId};
use tokio::sync::oneshot;

use super::bounded_call::bounded;
use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::TextParam;
use crate::live::LogEnd;
use crate::log_feed::LogFeed;
use crate::rows::StoreRow;
use crate::rules::append::{LogState, refusal};

/// An append that waits to be written.
pub(crate) struct PendingAppend {
    pub(crate) task: TaskId,
    pub(crate) fence: u64,
    pub(crate) segment: Segment,
    pub(crate) end: LogEnd,
    pub(crate) reply: oneshot::Sender<PortResult<SegmentAppended>>,
}

/// Advances every log whose end matches the start of its segment, and stores the segments of just these logs.
const APPEND: &str = "\
    WITH given AS (
        SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[],
            $6::bytea[]) AS g (task_id, fence, first_seq, last_seq, seals, bytes)),
    grown AS (
        UPDATE log AS l SET last_seq = g.last_seq, sealed = g.seals FROM given AS g
        WHERE l.task_id = g.task_id AND l.fence = g.fence AND l.last_seq = g.first_seq - 1
          AND NOT l.sealed
        RETURNING l.id, g.task_id, g.first_seq, g.last_seq, g.bytes),
    stored AS (
        INSERT INTO segment (log_id, first_seq, last_seq, bytes)
        SELECT id, first_seq, last_seq, bytes FROM grown)
    SELECT task_id FROM grown";

/// Writes the group, notifies the feed of stored segments, and replies to every caller.
pub(crate) async fn write(pool: &Pool, feed: &dyn LogFeed, group: Vec<PendingAppend>) {
    metrics::counter!("pilothouse_store_groups_total").increment(1);
    metrics::counter!("pilothouse_store_jobs_total").increment(group.len() as u64);
    match bounded(store(pool, &group)).await {
        Ok(mut answers) => {
            for append in group {
                // An append that was not refused was stored.
                let answer = answers.remove(&append.task).unwrap_or(SegmentAppended::Stored);
                if answer == SegmentAppended::Stored {
                    feed.grew(&append.task, append.fence, &append.segment, append.end);
                }
                // The caller may have stopped waiting; the write stays committed.
                let _ = append.reply.send(Ok(answer));
            }
        }
        Err(fault) => {
            let error = ports::PortError::from(fault);
            for append in group {
                let _ = append.reply.send(Err(error.clone()));
            }
        }
    }
}

/// Returns the logs whose segment was refused, with the reason.
async fn store(
    pool: &Pool,
    group: &[PendingAppend],
) -> Result<HashMap<TaskId, SegmentAppended>, PostgresError> {
    let db = PooledConnection::get(pool).await?;
    let tasks: Vec<TextParam<'_>> = group.iter().map(|a| TextParam(a.task.as_str())).collect();
    let fences: Vec<i64> = group.iter().map(|a| a.fence as i64).collect();
    let firsts: Vec<i64> = group.iter().map(|a| a.segment.first as i64).collect();
    let lasts: Vec<i64> = group.iter().map(|a| a.segment.last as i64).collect();
    let seals: Vec<bool> = group.iter().map(|a| a.end == LogEnd::Sealed).collect();
    let bytes: Vec<&[u8]> = group.iter().map(|a| &a.segment.bytes[..]).collect();
    let grown = db.query(APPEND, &[&tasks, &fences, &firsts, &lasts, &seals, &bytes]).await?;
    if grown.len() == group.len() {
        return Ok(HashMap::new());
    }
    let grown: HashSet<TaskId> =
        grown.iter().map(|row| row.id("task_id")).collect::<Result<_, _>>()?;
    refusals(&db, group.iter().filter(|append| !grown.contains(&append.task)).collect()).await
}

async fn refusals(
    db: &PooledConnection,
    refused: Vec<&PendingAppend>,
) -> Result<HashMap<TaskId, SegmentAppended>, PostgresError> {
    let tasks: Vec<TextParam<'_>> =
        refused.iter().map(|append| TextParam(append.task.as_str())).collect();
    let logs = db
        .query(
            "SELECT task_id, fence, last_seq, sealed FROM log WHERE task_id = ANY($1)",
            &[&tasks],
        )
        .await?;
    let mut found = HashMap::new();
    for row in &logs {
        found.insert(row.id::<TaskId>("task_id")?, LogState::read(row)?);
    }
    let mut answers = HashMap::new();
    for append in refused {
        let log = found.get(&append.task).copied();
        let answer = refusal(log, append.fence, append.segment.first);
        answers.insert(append.task.clone(), answer);
    }
    Ok(answers)
}
