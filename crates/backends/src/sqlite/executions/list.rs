//! Lists executions in pages, the newest first.

use ports::store::ListExecutions;
use protocol::UserId;
use protocol::execution::{Execution, ExecutionStatus};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::find::select_executions;
use crate::rows::executions::execution;
use crate::rules::page;
use crate::sqlite::error::SqliteError;

pub(crate) fn list(
    db: &Connection,
    user: &UserId,
    wanted: &ListExecutions,
) -> Result<(Vec<Execution>, u64), SqliteError> {
    let (conditions, mut values) = conditions(user, wanted);
    let total: i64 = db
        .prepare_cached(&format!("SELECT count(*) FROM execution AS e WHERE {conditions}"))?
        .query_row(params_from_iter(&values), |row| row.get(0))?;
    values.extend([wanted.limit.into(), page::offset(wanted.offset)].map(Value::Integer));
    let runs = db
        .prepare_cached(&format!(
            "{} WHERE {conditions} ORDER BY e.number DESC LIMIT ? OFFSET ?",
            select_executions!()
        ))?
        .query_map(params_from_iter(&values), |row| execution(row))?
        .collect::<Result<_, _>>()?;
    Ok((runs, total as u64))
}

/// Only the requested conditions are in the statement, so that each kind of list can use its index.
fn conditions(user: &UserId, wanted: &ListExecutions) -> (String, Vec<Value>) {
    let mut conditions = vec!["e.user_id = ?"];
    let mut values = vec![Value::Text(user.0.clone())];
    if let Some(graph) = &wanted.graph {
        conditions.push("e.graph_id = ?");
        values.push(Value::Text(graph.0.clone()));
    }
    if !wanted.statuses.is_empty() {
        conditions.push("e.status IN (SELECT value FROM json_each(?))");
        let words: Vec<&str> = wanted.statuses.iter().map(|status| status.as_str()).collect();
        values.push(Value::Text(serde_json::json!(words).to_string()));
    }
    if let Some(from) = wanted.from {
        conditions.push("e.created_at >= ?");
        values.push(Value::Integer(from.as_microsecond()));
    }
    if let Some(until) = wanted.until {
        conditions.push("e.created_at < ?");
        values.push(Value::Integer(until.as_microsecond()));
    }
    if wanted.top_level {
        conditions.push("e.parent_id IS NULL");
    }
    (conditions.join(" AND "), values)
}

/// Number of queued and of running executions.
pub(crate) fn count_open(db: &Connection) -> Result<(u64, u64), SqliteError> {
    let count = |status: ExecutionStatus| -> Result<u64, SqliteError> {
        // In the text and not a parameter, so that SQLite can choose the matching partial index.
        let status = status.as_str();
        let count: i64 = db
            .prepare_cached(&format!("SELECT count(*) FROM execution WHERE status = '{status}'"))?
            .query_row([], |row| row.get(0))?;
        Ok(count as u64)
    };
    Ok((count(ExecutionStatus::Queued)?, count(ExecutionStatus::Running)?))
}
