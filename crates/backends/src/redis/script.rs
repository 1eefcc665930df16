//! The script that appends a segment, as a pipeline command.

use std::time::Duration;

use protocol::{Segment, Seq, TaskId};
use redis::{Cmd, Script, ServerErrorKind, Value};

use super::{keys, log_notice};
use crate::live::LogEnd;

/// Expiry of the stream of a running turn after its last segment. Readers find a turn that is silent for longer in the
/// store.
const RUNNING_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// One segment to publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublishEntry {
    pub(crate) task: TaskId,
    pub(crate) fence: u64,
    pub(crate) segment: Segment,
    pub(crate) end: LogEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublishMode {
    /// Subscribers are notified.
    Notify,
    /// The segment is only stored.
    Silent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublishOutcome {
    /// The stream has everything up to here. Less than the published segment means that there is a gap.
    EndsAt(Seq),
    /// A newer writer has taken over.
    Fenced,
    /// The server does not have the script and needs it again.
    ScriptMissing,
    Refused(String),
}

pub(crate) struct PublishScript {
    script: Script,
    stream_ttl: Duration,
}

const SOURCE: &str = include_str!("publish.lua");

impl PublishScript {
    pub(crate) fn new(stream_ttl: Duration) -> Self {
        Self { script: Script::new(SOURCE), stream_ttl }
    }

    pub(crate) fn load(&self) -> Cmd {
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(SOURCE);
        load
    }

    pub(crate) fn command(&self, entry: &PublishEntry, mode: PublishMode) -> Cmd {
        let PublishEntry { task, fence, segment, end } = entry;
        let (status, ttl) = match end {
            LogEnd::Open => ("running", RUNNING_TTL),
            LogEnd::Sealed => ("sealed", self.stream_ttl),
        };
        let channel = match mode {
            PublishMode::Notify => keys::news(task),
            PublishMode::Silent => String::new(),
        };
        let mut command = redis::cmd("EVALSHA");
        command.arg(self.script.get_hash()).arg(2).arg(keys::stream(task)).arg(keys::meta(task));
        command.arg(*fence).arg(segment.first).arg(segment.last).arg(status);
        // An expiry of zero seconds would delete the key.
        command.arg(ttl.as_secs().max(1)).arg(&segment.bytes[..]).arg(channel);
        command.arg(&log_notice::grew_header(segment.first, segment.last, *end)[..]);
        command
    }
}

impl PublishOutcome {
    pub(crate) fn of(reply: &Value) -> Self {
        match reply {
            Value::Int(last) => Seq::try_from(*last).map_or(Self::Fenced, Self::EndsAt),
            Value::ServerError(error) if error.kind() == Some(ServerErrorKind::NoScript) => {
                Self::ScriptMissing
            }
            Value::ServerError(error) => Self::Refused(error.code().to_owned()),
            _ => Self::Refused("an unexpected reply".to_owned()),
        }
    }
}
