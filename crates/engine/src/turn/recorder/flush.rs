//! The task that stores a turn's chunks, one segment after the other.

use std::sync::Arc;
use std::time::Duration;

use ports::PortError;
use ports::stream_log::SegmentAppended;
use protocol::Segment;
use tokio::time::Instant;

use super::{LOCK, RecorderShared};
use crate::job::halt::TurnHalt;
use crate::job::stop::StopCause;

/// Delay before retrying a log that does not answer.
const RETRY_DELAY: Duration = Duration::from_millis(200);

pub(crate) async fn flush(shared: Arc<RecorderShared>) {
    let mut started = Some(Instant::now());
    loop {
        let segment = shared.state.lock().expect(LOCK).builder.take();
        let Some(segment) = segment else {
            tokio::select! {
                biased;
                () = shared.closing.cancelled() => return,
                () = shared.added.notified() => continue,
            }
        };
        let last = segment.last;
        let count = last - segment.first + 1;
        match store(&shared, &segment).await {
            Ok(()) => {
                metrics::counter!("pilothouse_chunks_total").increment(count);
                if let Some(started) = started.take() {
                    metrics::histogram!("pilothouse_first_chunk_seconds").record(started.elapsed());
                }
                shared.stored.send_replace(last);
            }
            Err(halt) => {
                if let TurnHalt::Stop(reason) = halt {
                    shared.stop.stop(reason);
                }
                let mut state = shared.state.lock().expect(LOCK);
                state.unsent = Some(segment);
                state.halted = Some(halt);
                drop(state);
                // Wake the tasks that wait for more to be stored.
                shared.stored.send_modify(|_| {});
                return;
            }
        }
        if shared.closing.is_cancelled() {
            return;
        }
    }
}

async fn store(shared: &RecorderShared, segment: &Segment) -> Result<(), TurnHalt> {
    loop {
        match shared.log.append(&shared.task, shared.fence, segment.clone()).await {
            Ok(SegmentAppended::Stored) => return Ok(()),
            // An earlier attempt was stored, but its answer was lost.
            Ok(SegmentAppended::Gap { last }) if last >= segment.last => return Ok(()),
            Ok(SegmentAppended::Stale | SegmentAppended::Sealed | SegmentAppended::Gap { .. }) => {
                metrics::counter!("pilothouse_fenced_appends_total").increment(1);
                return Err(StopCause::LeaseLost.into());
            }
            // The lease is lost, so this is not a failure of the turn.
            Err(PortError::Unavailable(_)) if shared.stop.is_lost() => {
                return Err(StopCause::LeaseLost.into());
            }
            Err(PortError::Unavailable(_)) if !shared.closing.is_cancelled() => {
                // The lease limits this loop: a worker that cannot renew is stopped.
                tokio::time::sleep(RETRY_DELAY).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
