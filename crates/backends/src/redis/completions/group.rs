//! The consumer group on the stream of completions, as one process takes part in it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use redis::{Pipeline, Value};

use super::super::keys::{COMPLETIONS as STREAM, CONSUMERS as GROUP};
use super::super::link::{Link, Unreachable};
use super::super::server::PATIENCE;
use super::entry::{DATA, Entry, entry, first_read};

/// How long the server holds a question for the next message. Well below what an answer may take, and below it even for
/// one who has to wait behind it.
const BLOCK: Duration = Duration::from_millis(900);
const _: () = assert!(2 * BLOCK.as_millis() < PATIENCE.as_millis());
/// The most that a process gives back when it leaves; what is beyond comes back by itself.
const GIVEN_BACK: usize = 1000;

/// Where a look through what others have left undone begins.
const START: &str = "0-0";

pub(super) struct Group {
    /// Held by the server while there is nothing to read, so nobody else can use it.
    reading: Arc<Link>,
    telling: Arc<Link>,
    consumer: String,
    /// What somebody has had for so long is taken from them.
    reclaim: Duration,
    /// Where the look at what is out goes on.
    cursor: Mutex<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("Redis: {0}")]
    Unreachable(#[from] Unreachable),
    #[error("Redis refuses with {0}")]
    Server(String),
}

impl Group {
    pub(super) fn new(reading: Arc<Link>, telling: Arc<Link>, reclaim: Duration) -> Self {
        let name = uuid::Uuid::new_v4().simple().to_string();
        let consumer = format!("consumer-{}", &name[..8]);
        Self { reading, telling, consumer, reclaim, cursor: Mutex::new(START.to_owned()) }
    }

    pub(super) fn link(&self) -> &Link {
        &self.reading
    }

    pub(super) async fn send(&self, body: &str) -> Result<(), Refusal> {
        let mut add = Pipeline::new();
        add.cmd("XADD").arg(STREAM).arg("*").arg(DATA).arg(body);
        ask(&self.telling, &add).await.map(drop)
    }

    /// The next message, if there is one before the server's patience ends: what others have left undone first.
    pub(super) async fn look(&self) -> Result<Option<Entry>, Refusal> {
        let found = match self.claim().await {
            Ok(None) => self.read().await,
            found => found,
        };
        match found {
            Err(Refusal::Server(code)) if code == "NOGROUP" => {
                self.create().await?;
                Ok(None)
            }
            found => found,
        }
    }

    /// Removed from the stream as well, which would otherwise grow for ever. In this order nothing is left behind should
    /// only half of it happen: one that is gone is also forgotten by its group.
    pub(super) async fn settle(&self, id: &str) -> Result<(), Refusal> {
        let mut settle = Pipeline::new();
        settle.cmd("XDEL").arg(STREAM).arg(id);
        settle.cmd("XACK").arg(STREAM).arg(GROUP).arg(id);
        ask(&self.telling, &settle).await.map(drop)
    }

    /// Gives back what this process still has, so that others need not wait until it has been out for long enough. One
    /// that has nothing is forgotten.
    pub(super) async fn leave(&self) -> Result<(), Refusal> {
        let mut held = Pipeline::new();
        held.cmd("XPENDING").arg(STREAM).arg(GROUP).arg("-").arg("+").arg(GIVEN_BACK);
        held.arg(&self.consumer);
        let held = ids(ask(&self.telling, &held).await?);
        let mut leave = Pipeline::new();
        if held.is_empty() {
            leave.cmd("XGROUP").arg("DELCONSUMER").arg(STREAM).arg(GROUP).arg(&self.consumer);
        } else {
            leave.cmd("XCLAIM").arg(STREAM).arg(GROUP).arg(&self.consumer).arg(0).arg(held);
            leave.arg("IDLE").arg(millis(self.reclaim)).arg("JUSTID");
        }
        ask(&self.telling, &leave).await.map(drop)
    }

    async fn claim(&self) -> Result<Option<Entry>, Refusal> {
        let from = self.cursor().clone();
        let mut claim = Pipeline::new();
        claim.cmd("XAUTOCLAIM").arg(STREAM).arg(GROUP).arg(&self.consumer);
        claim.arg(millis(self.reclaim)).arg(from).arg("COUNT").arg(1);
        let Value::Array(answer) = ask(&self.reading, &claim).await? else { return Ok(None) };
        let mut answer = answer.into_iter();
        if let Some(Value::BulkString(next)) = answer.next() {
            *self.cursor() = String::from_utf8(next).unwrap_or_else(|_| START.to_owned());
        }
        let Some(Value::Array(entries)) = answer.next() else { return Ok(None) };
        Ok(entries.into_iter().next().and_then(entry))
    }

    async fn read(&self) -> Result<Option<Entry>, Refusal> {
        let mut read = Pipeline::new();
        read.cmd("XREADGROUP").arg("GROUP").arg(GROUP).arg(&self.consumer).arg("COUNT").arg(1);
        read.arg("BLOCK").arg(millis(BLOCK)).arg("STREAMS").arg(STREAM).arg(">");
        Ok(first_read(ask(&self.reading, &read).await?))
    }

    /// From the beginning of the stream, because others may have written before anybody read.
    async fn create(&self) -> Result<(), Refusal> {
        let mut create = Pipeline::new();
        create.cmd("XGROUP").arg("CREATE").arg(STREAM).arg(GROUP).arg(0).arg("MKSTREAM");
        match ask(&self.reading, &create).await {
            // Another process was quicker.
            Err(Refusal::Server(code)) if code == "BUSYGROUP" => Ok(()),
            created => created.map(drop),
        }
    }

    fn cursor(&self) -> MutexGuard<'_, String> {
        self.cursor.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The last answer, if none of them is a refusal.
async fn ask(link: &Link, questions: &Pipeline) -> Result<Value, Refusal> {
    let mut last = Value::Nil;
    for answer in link.ask(questions, PATIENCE).await? {
        match answer {
            Value::ServerError(error) => return Err(Refusal::Server(error.code().to_owned())),
            answer => last = answer,
        }
    }
    Ok(last)
}

/// The first of each row.
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
