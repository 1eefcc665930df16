//! The end of a turn's log, after its recorder: written with the end of the turn, or on its own when the turn goes on.

use ports::stream_log::SegmentAppended;
use protocol::chunk::Chunk;
use protocol::turn::TurnClaim;
use protocol::{Segment, SegmentBuilder, Seq};

use super::halt::TurnHalt;
use super::open_parts::OpenParts;
use super::registry::{StopCause, StopSignal};
use crate::EngineInner;
use crate::retry::retry_while_leased;

/// The end of a turn's log, being written.
#[derive(Clone)]
pub(crate) struct LogEnding {
    unsent: Option<Segment>,
    builder: SegmentBuilder,
    parts: OpenParts,
}

impl LogEnding {
    /// What a recorder leaves: what the log had no room for, what was said since, and what is open.
    pub(super) fn new(unsent: Option<Segment>, builder: SegmentBuilder, parts: OpenParts) -> Self {
        Self { unsent, builder, parts }
    }

    /// For a log whose recorder is gone.
    pub(crate) fn following(last: Seq, parts: OpenParts) -> Self {
        Self { unsent: None, builder: SegmentBuilder::following(last), parts }
    }

    pub(crate) fn push(&mut self, chunk: &Chunk) {
        let seq = self.builder.push(chunk);
        self.parts.observe(chunk, seq);
    }

    pub(crate) fn parts(&self) -> &OpenParts {
        &self.parts
    }

    /// Everything that is not stored yet, as one segment.
    pub(crate) fn into_segment(mut self) -> Option<Segment> {
        match (self.unsent, self.builder.take()) {
            (Some(before), Some(after)) => Some(Segment {
                first: before.first,
                last: after.last,
                bytes: [before.bytes, after.bytes].concat().into(),
            }),
            (before, after) => before.or(after),
        }
    }
}

/// Stores what a recorder that was closed has left, for a turn that goes on. A part of it may have been stored without
/// our hearing of it.
pub(crate) async fn append_rest(
    inner: &EngineInner,
    claim: &TurnClaim,
    stop: &StopSignal,
    mut segment: Segment,
) -> Result<(), TurnHalt> {
    let task = claim.turn_id.task();
    loop {
        let append = || inner.ports.log.append(&task, claim.fence, segment.clone());
        segment = match retry_while_leased(stop, append).await? {
            SegmentAppended::Stored => return Ok(()),
            SegmentAppended::Gap { last } if last >= segment.first => match segment.after(last) {
                Some(rest) => rest,
                None => return Ok(()),
            },
            SegmentAppended::Stale | SegmentAppended::Sealed | SegmentAppended::Gap { .. } => {
                return Err(TurnHalt::Stop(StopCause::LeaseLost));
            }
        };
    }
}
