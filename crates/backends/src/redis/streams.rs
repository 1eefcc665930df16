//! Reads stream logs from Redis, for followers whose cursor is before the cached tail.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ports::stream_log::LogRead;
use protocol::{Segment, Seq, TaskId};
use redis::{Pipeline, Value};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::connection::RedisConnection;
use super::keys;

/// The store gives the same result, so Redis gets no more time than a store read would take.
const REPLY_TIMEOUT: Duration = Duration::from_millis(500);
/// Entries of the first request; further requests estimate how many fill the byte limit.
const ENTRIES: usize = 16;
const MOST_ENTRIES: usize = 512;

/// Concurrent reads. All share one connection, and more would slow each other down.
const CONCURRENT: usize = 64;

pub(crate) struct StreamReader {
    link: Arc<RedisConnection>,
    permits: Semaphore,
}

impl StreamReader {
    pub(crate) fn new(link: Arc<RedisConnection>) -> Self {
        Self { link, permits: Semaphore::new(CONCURRENT) }
    }

    /// What follows `after`, or `None` when Redis does not have it. It may end before the log does, but has no gaps.
    pub(crate) async fn read(
        &self,
        task: &TaskId,
        after: Seq,
        max_bytes: usize,
    ) -> Option<LogRead> {
        let _permit = timeout(REPLY_TIMEOUT, self.permits.acquire()).await.ok()?.ok()?;
        read(&self.link, task, after, max_bytes).await
    }
}

async fn read(
    link: &RedisConnection,
    task: &TaskId,
    after: Seq,
    max_bytes: usize,
) -> Option<LogRead> {
    let (stream, meta) = (keys::stream(task), keys::meta(task));
    let mut segments: Vec<Segment> = Vec::new();
    let (mut cursor, mut bytes, mut count) = (after, 0, ENTRIES);
    let (mut last, mut sealed) = (after, false);
    loop {
        let mut request = Pipeline::new();
        request.cmd("HMGET").arg(&meta).arg("last").arg("status");
        // An entry's id is its last position, so the first entry with anything new is found by its id.
        request.cmd("XRANGE").arg(&stream).arg(format!("{}-0", cursor + 1)).arg("+");
        request.arg("COUNT").arg(count);
        let mut replies = link.request(&request, REPLY_TIMEOUT).await.ok()?.into_iter();
        let (known, entries) = (replies.next()?, replies.next()?);
        (last, sealed) = end_of(&known).unwrap_or((last, sealed));
        let Value::Array(entries) = entries else { break };
        let full = entries.len() == count;
        for entry in entries {
            let Some(segment) = segment(entry).filter(|found| found.first <= cursor + 1) else {
                // A gap: later entries cannot be used.
                return log_read(segments, last.max(cursor), sealed);
            };
            let Some(segment) = segment.after(cursor) else { continue };
            cursor = segment.last;
            bytes += segment.bytes.len();
            segments.push(segment);
            if bytes >= max_bytes {
                return log_read(segments, last.max(cursor), sealed);
            }
        }
        if !full {
            break;
        }
        count = ((max_bytes - bytes) * segments.len() / bytes.max(1)).clamp(1, MOST_ENTRIES);
    }
    log_read(segments, last.max(cursor), sealed)
}

/// Redis may be behind the store, so an empty result means nothing.
fn log_read(segments: Vec<Segment>, last: Seq, sealed: bool) -> Option<LogRead> {
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
