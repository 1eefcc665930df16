//! The consumer group of the completions stream, with this process as one consumer.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::{Pipeline, Value};

use super::entry::{CompletionEntry, DATA, entry, first_read};
use crate::redis::connection::{RedisConnection, RedisUnreachable};
use crate::redis::keys::{COMPLETIONS as STREAM, CONSUMERS as GROUP};
use crate::redis::server::REPLY_TIMEOUT;

/// How long the server blocks a read for the next message. Well below the reply time limit, even for a request that
/// waits behind such a read.
const BLOCK_TIME: Duration = Duration::from_millis(900);
const _: () = assert!(2 * BLOCK_TIME.as_millis() < REPLY_TIMEOUT.as_millis());
/// Maximum number of messages a closing process returns; others are reclaimed after their time limit.
const MAX_RETURNED: usize = 1000;

/// Where a scan of unacknowledged messages begins.
const START: &str = "0-0";

pub(crate) struct CompletionGroup {
    /// Blocked by the server while there is nothing to read, so nothing else may use it.
    reading: Arc<RedisConnection>,
    publishing: Arc<RedisConnection>,
    consumer: String,
    /// A message that a consumer has had for this long is claimed from it.
    reclaim: Duration,
    /// Where the scan of unacknowledged messages continues.
    cursor: Mutex<String>,
}

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GroupError {
    #[error("Redis: {0}")]
    RedisUnreachable(#[from] RedisUnreachable),
    #[error("Redis refused with {0}")]
    Server(String),
}

impl CompletionGroup {
    pub(crate) fn new(
        reading: Arc<RedisConnection>,
        publishing: Arc<RedisConnection>,
        reclaim: Duration,
    ) -> Self {
        let name = uuid::Uuid::new_v4().simple().to_string();
        let consumer = format!("consumer-{}", &name[..8]);
        Self { reading, publishing, consumer, reclaim, cursor: Mutex::new(START.to_owned()) }
    }

    pub(crate) fn link(&self) -> &RedisConnection {
        &self.reading
    }

    pub(crate) async fn send(&self, body: &str) -> Result<(), GroupError> {
        let mut add = Pipeline::new();
        add.cmd("XADD").arg(STREAM).arg("*").arg(DATA).arg(body);
        request(&self.publishing, &add).await.map(drop)
    }

    /// The next message, if one arrives within the blocking time; messages that other consumers left unacknowledged
    /// come first.
    pub(crate) async fn look(&self) -> Result<Option<CompletionEntry>, GroupError> {
        let found = match self.claim().await {
            Ok(None) => self.read().await,
            found => found,
        };
        match found {
            Err(GroupError::Server(code)) if code == "NOGROUP" => {
                self.create().await?;
                Ok(None)
            }
            found => found,
        }
    }

    /// Also deletes the message from the stream, which would otherwise grow without limit. In this order a partial
    /// failure leaves nothing behind: the group forgets a deleted message by itself.
    pub(crate) async fn settle(&self, id: &str) -> Result<(), GroupError> {
        let mut settle = Pipeline::new();
        settle.cmd("XDEL").arg(STREAM).arg(id);
        settle.cmd("XACK").arg(STREAM).arg(GROUP).arg(id);
        request(&self.publishing, &settle).await.map(drop)
    }

    /// Returns the messages of this process, so that others need not wait for the reclaim time. A consumer without
    /// messages is removed.
    pub(crate) async fn leave(&self) -> Result<(), GroupError> {
        let mut held = Pipeline::new();
        held.cmd("XPENDING").arg(STREAM).arg(GROUP).arg("-").arg("+").arg(MAX_RETURNED);
        held.arg(&self.consumer);
        let held = ids(request(&self.publishing, &held).await?);
        let mut leave = Pipeline::new();
        if held.is_empty() {
            leave.cmd("XGROUP").arg("DELCONSUMER").arg(STREAM).arg(GROUP).arg(&self.consumer);
        } else {
            leave.cmd("XCLAIM").arg(STREAM).arg(GROUP).arg(&self.consumer).arg(0).arg(held);
            leave.arg("IDLE").arg(millis(self.reclaim)).arg("JUSTID");
        }
        request(&self.publishing, &leave).await.map(drop)
    }

    async fn claim(&self) -> Result<Option<CompletionEntry>, GroupError> {
        let from = self.cursor().clone();
        let mut claim = Pipeline::new();
        claim.cmd("XAUTOCLAIM").arg(STREAM).arg(GROUP).arg(&self.consumer);
        claim.arg(millis(self.reclaim)).arg(from).arg("COUNT").arg(1);
        let Value::Array(answer) = request(&self.reading, &claim).await? else { return Ok(None) };
        let mut answer = answer.into_iter();
        if let Some(Value::BulkString(next)) = answer.next() {
            *self.cursor() = String::from_utf8(next).unwrap_or_else(|_| START.to_owned());
        }
        let Some(Value::Array(entries)) = answer.next() else { return Ok(None) };
        Ok(entries.into_iter().next().and_then(entry))
    }

    async fn read(&self) -> Result<Option<CompletionEntry>, GroupError> {
        let mut read = Pipeline::new();
        read.cmd("XREADGROUP").arg("GROUP").arg(GROUP).arg(&self.consumer).arg("COUNT").arg(1);
        read.arg("BLOCK").arg(millis(BLOCK_TIME)).arg("STREAMS").arg(STREAM).arg(">");
        Ok(first_read(request(&self.reading, &read).await?))
    }

    /// From the beginning of the stream, because messages may have been written before the group existed.
    async fn create(&self) -> Result<(), GroupError> {
        let mut create = Pipeline::new();
        create.cmd("XGROUP").arg("CREATE").arg(STREAM).arg(GROUP).arg(0).arg("MKSTREAM");
        match request(&self.reading, &create).await {
            // Another process was first.
            Err(GroupError::Server(code)) if code == "BUSYGROUP" => Ok(()),
            created => created.map(drop),
        }
    }

    fn cursor(&self) -> MutexGuard<'_, String> {
        self.cursor.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The last reply, if none of them is an error.
async fn request(link: &RedisConnection, requests: &Pipeline) -> Result<Value, GroupError> {
    let mut last = Value::Nil;
    for answer in link.request(requests, REPLY_TIMEOUT).await? {
        match answer {
            Value::ServerError(error) => return Err(GroupError::Server(error.code().to_owned())),
            answer => last = answer,
        }
    }
    Ok(last)
}

/// The first column of each row.
fn ids(rows: Value) -> Vec<Vec<u8>> {
    let Value::Array(rows) = rows else { return Vec::new() };
    let id = |row| match row {
        Value::Array(columns) => match columns.into_iter().next() {
            Some(Value::BulkString(id)) => Some(id),
            _ => None,
        },
        _ => None,
    };
    rows.into_iter().filter_map(id).collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
