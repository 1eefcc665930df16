//! Names of our exchanges and queues. A prefix separates several installations on one broker.

pub(crate) const ROUTING_KEY: &str = "copilot.run";

#[derive(Clone, Debug)]
pub(crate) struct TopologyNames {
    /// Direct exchange that every job is published to.
    pub(crate) execution: String,
    /// The queue all workers of all processes share.
    pub(crate) queue: String,
    /// Dead-letter exchange of the queue.
    pub(crate) dead_exchange: String,
    /// Keeps dead letters for inspection.
    pub(crate) dead_queue: String,
    /// Fan-out exchange of cancellations: every process binds its own queue to it.
    pub(crate) cancel: String,
}

impl TopologyNames {
    pub(crate) fn new(prefix: &str) -> Self {
        let name = |name: &str| format!("{prefix}{name}");
        Self {
            execution: name("copilot_execution"),
            queue: name("copilot_execution_queue_v2"),
            dead_exchange: name("copilot_execution_dlx"),
            dead_queue: name("copilot_execution_dead"),
            cancel: name("copilot_cancel"),
        }
    }
}
