//! The last part of a turn's log, after its recorder was closed: stored with the end of the turn, or separately when
//! the turn continues.

use ports::stream_log::SegmentAppended;
use protocol::chunk::Chunk;
use protocol::{Segment, SegmentBuilder};

use super::leased_turn::LeasedTurn;
use super::open_parts::OpenParts;
use super::takeover::TakenOverLog;
use crate::job::halt::TurnHalt;
use crate::job::retry::retry_while_leased;
use crate::job::stop::StopCause;

/// The last part of a turn's log, while it is being written.
#[derive(Clone)]
pub(crate) struct LogEnding {
    unsent: Option<Segment>,
    builder: SegmentBuilder,
    parts: OpenParts,
}

impl LogEnding {
    /// From a closed recorder: the segment that could not be stored, the chunks since then, and the open parts.
    pub(crate) fn new(unsent: Option<Segment>, builder: SegmentBuilder, parts: OpenParts) -> Self {
        Self { unsent, builder, parts }
    }

    /// For a log whose recorder is gone.
    pub(crate) fn following(log: TakenOverLog) -> Self {
        let TakenOverLog { last, parts } = log;
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

/// Stores the rest of a closed recorder for a turn that continues. A part of it may be stored already, if an earlier
/// answer was lost.
pub(crate) async fn append_rest(leased: &LeasedTurn, mut segment: Segment) -> Result<(), TurnHalt> {
    let LeasedTurn { inner, claim, stop, .. } = leased;
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
                return Err(StopCause::LeaseLost.into());
            }
        };
    }
}
