//! Cancels a turn: sets a flag in its row, sends a hint on the bus, and waits for the turn to end.

use std::time::Duration;

use ports::PortResult;
use ports::leases::JobClaimed;
use protocol::limits::CANCEL_CONFIRM;
use protocol::session::Owner;
use protocol::turn::{Turn, TurnStatus};
use protocol::{SessionId, TurnId};
use tokio::time::Instant;

use crate::Engine;
use crate::job::claim::ClaimRequest;
use crate::job::runner::run_guarded;
use crate::job::worker_permit;
use crate::turn::LeasedTurn;

/// How often the rows are polled when no hint arrives.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelReport {
    pub cancelled: bool,
    pub turn_id: Option<TurnId>,
    pub reason: Option<CancelReason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelReason {
    NoActiveTask,
    /// The turn was still queued.
    Dequeued,
    /// The cancel was requested, but the turn had not ended within `CANCEL_CONFIRM`.
    NotConfirmed,
}

impl Engine {
    /// Cancels all running and queued turns of the session. Returns when all of them have ended, or after
    /// `limits::CANCEL_CONFIRM`.
    pub async fn cancel(&self, owner: &Owner, session: &SessionId) -> PortResult<CancelReport> {
        // Subscribe before writing the flag, so that an end in between is not missed.
        let mut signals = self.inner.ports.bus.subscribe();
        let turns = self.inner.ports.turns.request_cancel(owner, session).await?;
        let Some(first) = turns.first() else {
            let reason = Some(CancelReason::NoActiveTask);
            return Ok(CancelReport { cancelled: false, turn_id: None, reason });
        };
        let (first_id, waited) = (first.id.clone(), first.status == TurnStatus::Queued);
        for turn in &turns {
            self.inner.signal_stop(&turn.id);
        }

        let deadline = Instant::now() + CANCEL_CONFIRM;
        let mut left = turns;
        let mut dequeued = false;
        loop {
            let mut open = Vec::new();
            for turn in left {
                match self.settle(owner, &turn).await? {
                    CancelProgress::Ended => {}
                    CancelProgress::Dequeued => dequeued |= turn.id == first_id,
                    CancelProgress::Open => open.push(turn),
                }
            }
            left = open;
            if left.is_empty() {
                let reason = (waited && dequeued).then_some(CancelReason::Dequeued);
                return Ok(CancelReport { cancelled: true, turn_id: Some(first_id), reason });
            }
            if Instant::now() >= deadline {
                let reason = Some(CancelReason::NotConfirmed);
                return Ok(CancelReport { cancelled: true, turn_id: Some(first_id), reason });
            }
            let _ = tokio::time::timeout(POLL_INTERVAL, signals.recv()).await;
        }
    }

    /// Cancels the session's turns, then deletes the session and its files.
    pub async fn delete_session(&self, owner: &Owner, session: &SessionId) -> PortResult<bool> {
        let ports = &self.inner.ports;
        if ports.sessions.get(owner, session).await?.is_none() {
            return Ok(false);
        }
        // A turn that does not end in time finds its row deleted and stops.
        self.cancel(owner, session).await?;
        let deleted = ports.sessions.delete(owner, session).await?;
        let workspace =
            ports::files::SessionWorkspace { owner: owner.clone(), session: session.clone() };
        ports.files.delete_session(&workspace).await?;
        Ok(deleted)
    }

    /// Claims and ends a turn that no worker has started.
    async fn settle(&self, owner: &Owner, turn: &Turn) -> PortResult<CancelProgress> {
        let inner = &self.inner;
        match inner.ports.turns.get(owner, &turn.id).await? {
            None => return Ok(CancelProgress::Ended),
            Some(now) if now.status.is_final() => return Ok(CancelProgress::Ended),
            Some(now) if now.status == TurnStatus::Running => return Ok(CancelProgress::Open),
            Some(_) => {}
        }
        let request = ClaimRequest::new(inner, (&turn.id).into());
        match request.send(inner).await? {
            JobClaimed::Turn(granted) => {
                // The claim only ends the turn, so it needs no worker.
                let (permit, _lent) = worker_permit::issue();
                run_guarded::<LeasedTurn>(inner.clone(), request, *granted, permit).await;
                // If the end could not be stored, another worker has to store it.
                let ended = inner.ports.turns.get(owner, &turn.id).await?;
                Ok(match ended {
                    Some(turn) if !turn.status.is_final() => CancelProgress::Open,
                    _ => CancelProgress::Dequeued,
                })
            }
            JobClaimed::Ended => Ok(CancelProgress::Ended),
            JobClaimed::Held
            | JobClaimed::NotReady
            | JobClaimed::AtLimit
            | JobClaimed::Execution(_) => Ok(CancelProgress::Open),
        }
    }
}

enum CancelProgress {
    Ended,
    Dequeued,
    Open,
}
