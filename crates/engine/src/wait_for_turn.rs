//! Waits for a turn: follows its log from the start and summarizes it, until the turn has ended or the time is up.

use std::time::Duration;

use ports::{LogFollower, LogUpdate, PortError, PortResult};
use protocol::TurnId;
use protocol::session::Owner;
use protocol::turn::Turn;
use tokio::time::Instant;

use crate::EngineInner;
use crate::log_summary::LogSummary;

pub(crate) struct WaitedTurn {
    /// The row at the end of the wait.
    pub(crate) turn: Turn,
    pub(crate) summary: LogSummary,
}

/// `None` if the owner has no such turn.
pub(crate) async fn wait_for_turn(
    inner: &EngineInner,
    owner: &Owner,
    turn: &TurnId,
    at_most: Duration,
) -> PortResult<Option<WaitedTurn>> {
    let deadline = Instant::now() + at_most;
    let poll = inner.options.poll;
    let mut follower = LogFollower::new(inner.ports.log.clone(), turn.task(), 0, poll);
    let mut summary = LogSummary::default();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match follower.next(left).await {
            Ok(LogUpdate::Segments(segments)) => {
                segments.iter().for_each(|segment| summary.read(segment));
                continue;
            }
            // An accepted turn may have no log before it is claimed, and a log may be removed after its end.
            Ok(LogUpdate::Gone) | Err(PortError::Unavailable(_)) => {}
            Ok(LogUpdate::Silent | LogUpdate::End) => {}
            Err(error) => return Err(error),
        }
        match inner.ports.turns.get(owner, turn).await {
            Ok(None) => return Ok(None),
            Ok(Some(turn)) if turn.status.is_final() => {
                // The turn may have ended after the log was read: read the rest, including its end.
                while let Ok(LogUpdate::Segments(rest)) = follower.next(Duration::ZERO).await {
                    rest.iter().for_each(|segment| summary.read(segment));
                }
                return Ok(Some(WaitedTurn { turn, summary }));
            }
            Ok(Some(turn)) if Instant::now() >= deadline => {
                return Ok(Some(WaitedTurn { turn, summary }));
            }
            Ok(Some(_)) => {}
            Err(PortError::Unavailable(_)) if Instant::now() < deadline => {}
            Err(error) => return Err(error),
        }
        // Only needed while there is no log; otherwise the follower has already waited.
        let left = deadline.saturating_duration_since(Instant::now());
        tokio::time::sleep(poll.min(left).min(POLL_WITHOUT_LOG)).await;
    }
}

/// How often the row is polled while there is no log.
const POLL_WITHOUT_LOG: Duration = Duration::from_millis(100);
