//! The script that adds a segment, as a command to be put into a pipeline.

use std::time::Duration;

use protocol::{Segment, Seq, TaskId};
use redis::{Cmd, Script, ServerErrorKind, Value};

use super::{keys, news};
use crate::live::LogEnd;

/// How long the stream of a turn that runs stays without a word being added. A turn that is silent for longer is found
/// in the store.
const WHILE_RUNNING: Duration = Duration::from_secs(24 * 60 * 60);

/// One segment on its way to Redis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) task: TaskId,
    pub(super) fence: u64,
    pub(super) segment: Segment,
    pub(super) end: LogEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// Whoever listens hears it.
    Aloud,
    /// It is only kept.
    Silent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The stream has everything up to here. Less than what was added means that there is a gap.
    StandsAt(Seq),
    /// A newer writer has been there.
    Fenced,
    /// The server does not know the script and wants it again.
    Forgotten,
    Refused(String),
}

pub(super) struct Publish {
    script: Script,
    stream_ttl: Duration,
}

const SOURCE: &str = include_str!("publish.lua");

impl Publish {
    pub(super) fn new(stream_ttl: Duration) -> Self {
        Self { script: Script::new(SOURCE), stream_ttl }
    }

    pub(super) fn load(&self) -> Cmd {
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(SOURCE);
        load
    }

    pub(super) fn command(&self, entry: &Entry, voice: Voice) -> Cmd {
        let Entry { task, fence, segment, end } = entry;
        let (status, ttl) = match end {
            LogEnd::Open => ("running", WHILE_RUNNING),
            LogEnd::Sealed => ("sealed", self.stream_ttl),
        };
        let channel = match voice {
            Voice::Aloud => keys::news(task),
            Voice::Silent => String::new(),
        };
        let mut command = redis::cmd("EVALSHA");
        command.arg(self.script.get_hash()).arg(2).arg(keys::stream(task)).arg(keys::meta(task));
        command.arg(*fence).arg(segment.first).arg(segment.last).arg(status);
        // A life of no seconds would be a removal.
        command.arg(ttl.as_secs().max(1)).arg(&segment.bytes[..]).arg(channel);
        command.arg(&news::grew_header(segment.first, segment.last, *end)[..]);
        command
    }
}

impl Outcome {
    pub(super) fn of(reply: &Value) -> Self {
        match reply {
            Value::Int(last) => Seq::try_from(*last).map_or(Self::Fenced, Self::StandsAt),
            Value::ServerError(error) if error.kind() == Some(ServerErrorKind::NoScript) => {
                Self::Forgotten
            }
            Value::ServerError(error) => Self::Refused(error.code().to_owned()),
            _ => Self::Refused("an answer of another kind".to_owned()),
        }
    }
}
