//! Which faults occur: probabilities per port call, and outages of whole services.

use std::time::Duration;

use super::backend::SimTime;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimService {
    Store,
    Log,
    Queue,
    /// A model or a tool. Called directly by the node; has no outages of its own.
    Work,
}

/// Probabilities are per thousand calls. No fault occurs from `ends_at` on.
#[derive(Clone, Debug, Default)]
pub struct FaultSchedule {
    pub ends_at: SimTime,
    /// The call fails and has no effect.
    pub refused: u64,
    /// The call takes effect, but the caller gets an error.
    pub reply_lost: u64,
    /// The call takes effect much later, possibly after the caller timed out.
    pub delayed: u64,
    /// The reply takes up to `max_latency`.
    pub slow: u64,
    pub max_latency: Duration,
    /// A queue delivery that is duplicated, or that jumps to the front.
    pub duplicated: u64,
    pub reordered: u64,
    /// A wake-up hint that never arrives.
    pub hint_lost: u64,
    pub outages: Vec<ServiceOutage>,
}

#[derive(Clone, Debug)]
pub struct ServiceOutage {
    pub service: SimService,
    pub nodes: AffectedNodes,
    pub kind: OutageKind,
    pub from: SimTime,
    pub to: SimTime,
}

/// The nodes that cannot reach the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffectedNodes {
    All,
    Node(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageKind {
    /// Calls fail at once.
    Refused,
    /// Calls fail after `CLIENT_TIMEOUT`; some of them take effect all the same.
    NoReply,
}

/// How long a node waits for a reply.
pub(crate) const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);

impl FaultSchedule {
    pub(crate) fn outage(
        &self,
        service: SimService,
        node: u32,
        now: SimTime,
    ) -> Option<&ServiceOutage> {
        self.outages.iter().find(|outage| {
            let concerned =
                outage.nodes == AffectedNodes::All || outage.nodes == AffectedNodes::Node(node);
            outage.service == service && concerned && (outage.from..outage.to).contains(&now)
        })
    }

    pub(crate) fn has_ended(&self, now: SimTime) -> bool {
        now >= self.ends_at
    }
}
