//! How bad the times are: what may befall a single call, and when whole services are away.

use std::time::Duration;

use super::world::Moment;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Store,
    Log,
    Queue,
    /// A model or a tool: reached by the process that asks, and never at fault by itself.
    Work,
}

/// Chances are in a thousand calls. Nothing goes wrong any more from `until` on.
#[derive(Clone, Debug, Default)]
pub struct Weather {
    pub until: Moment,
    /// Answered with an error, and nothing was done.
    pub refused: u64,
    /// Done, but answered with an error.
    pub unheard: u64,
    /// Done only much later, perhaps when nobody waits for it any more.
    pub late: u64,
    /// Answered late.
    pub slow: u64,
    pub slowest: Duration,
    /// A delivery that comes twice, or before its turn.
    pub repeated: u64,
    pub reordered: u64,
    /// A hint that never arrives.
    pub unhinted: u64,
    pub outages: Vec<Outage>,
}

#[derive(Clone, Debug)]
pub struct Outage {
    pub service: Service,
    pub whom: Whom,
    pub manner: Manner,
    pub from: Moment,
    pub to: Moment,
}

/// Who cannot reach the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    All,
    Node(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// An error at once.
    Refuses,
    /// No answer for as long as a backend waits for one, then an error; what was asked may have been done.
    Hangs,
}

/// As long as a backend waits for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

impl Weather {
    pub(super) fn outage(&self, service: Service, node: u32, now: Moment) -> Option<&Outage> {
        self.outages.iter().find(|outage| {
            let concerned = outage.whom == Whom::All || outage.whom == Whom::Node(node);
            outage.service == service && concerned && (outage.from..outage.to).contains(&now)
        })
    }

    pub(super) fn is_over(&self, now: Moment) -> bool {
        now >= self.until
    }
}
