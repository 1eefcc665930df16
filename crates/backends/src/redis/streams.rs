//! Reading logs from their streams in Redis, for followers whose cursor the tail in memory does not reach.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use redis::{Pipeline, Value};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::keys;
use super::link::Link;

/// The store gives the same answer, so Redis is not waited for any longer than it would take to do without.
const PATIENCE: Duration = Duration::from_millis(500);
/// Entries asked for at first; then as many as should fill what was asked for.
const ENTRIES: usize = 16;
const MOST_ENTRIES: usize = 512;

/// Reads at the same time. All share one connection, and a crowd on it would make each of them late.
const SIDE_BY_SIDE: usize = 64;

pub(super) struct Streams {
    link: Arc<Link>,
    places: Semaphore,
}

impl Streams {
    pub(super) fn new(link: Arc<Link>) -> Self {
        Self { link, places: Semaphore::new(SIDE_BY_SIDE) }
    }

    /// What follows `after`, or nothing when Redis has no part of that. It may end before the log does, never skip.
    pub(super) async fn read(
        &self,
        task: &TaskId,
        after: Seq,
        max_bytes: usize,
    ) -> Option<LogRead> {
        let _place = timeout(PATIENCE, self.places.acquire()).await.ok()?.ok()?;
        read(&self.link, task, after, max_bytes).await
    }
}

async fn read(link: &Link, task: &TaskId, after: Seq, max_bytes: usize) -> Option<LogRead> {
    let (stream, meta) = (keys::stream(task), keys::meta(task));
    let mut segments: Vec<Segment> = Vec::new();
    let (mut cursor, mut bytes, mut count) = (after, 0, ENTRIES);
    let (mut last, mut sealed) = (after, false);
    loop {
        let mut question = Pipeline::new();
        question.cmd("HMGET").arg(&meta).arg("last").arg("status");
        // An entry's id is the last position in it, so the first one that holds anything new is found by its id.
        question.cmd("XRANGE").arg(&stream).arg(format!("{}-0", cursor + 1)).arg("+");
        question.arg("COUNT").arg(count);
        let mut answers = link.ask(&question, PATIENCE).await.ok()?.into_iter();
        let (known, entries) = (answers.next()?, answers.next()?);
        (last, sealed) = end_of(&known).unwrap_or((last, sealed));
        let Value::Array(entries) = entries else { break };
        let full = entries.len() == count;
        for entry in entries {
            let Some(segment) = segment(entry).filter(|found| found.first <= cursor + 1) else {
                // A gap: what comes after it is of no use.
                return answer(segments, last.max(cursor), sealed);
            };
            let Some(segment) = segment.after(cursor) else { continue };
            cursor = segment.last;
            bytes += segment.bytes.len();
            segments.push(segment);
            if bytes >= max_bytes {
                return answer(segments, last.max(cursor), sealed);
            }
        }
        if !full {
            break;
        }
        count = ((max_bytes - bytes) * segments.len() / bytes.max(1)).clamp(1, MOST_ENTRIES);
    }
    answer(segments, last.max(cursor), sealed)
}

/// Redis may be behind the store, so that it has nothing new means nothing.
fn answer(segments: Vec<Segment>, last: Seq, sealed: bool) -> Option<LogRead> {
    (!segments.is_empty()).then_some(LogRead::Log { segments, last, sealed, missing_to: None })
}

fn end_of(known: &Value) -> Option<(Seq, bool)> {
    let Value::Array(fields) = known else { return None };
    let [Value::BulkString(last), Value::BulkString(status)] = &fields[..] else { return None };
    Some((number(last)?, status == b"sealed"))
}

/// `[id, [name, value, …]]`
fn segment(entry: Value) -> Option<Segment> {
    let Value::Array(entry) = entry else { return None };
    let [Value::BulkString(id), Value::Array(fields)] = <[Value; 2]>::try_from(entry).ok()? else {
        return None;
    };
    let last = number(id.split(|byte| *byte == b'-').next()?)?;
    let (mut first, mut bytes) = (None, None);
    let mut fields = fields.into_iter();
    while let (Some(Value::BulkString(name)), Some(Value::BulkString(value))) =
        (fields.next(), fields.next())
    {
        match &name[..] {
            b"first" => first = number(&value),
            b"data" => bytes = Some(Bytes::from(value)),
            _ => {}
        }
    }
    Some(Segment { first: first?, last, bytes: bytes? })
}

fn number(digits: &[u8]) -> Option<Seq> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
