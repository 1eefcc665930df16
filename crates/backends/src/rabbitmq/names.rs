//! What our exchanges and queues are called. A prefix keeps several installations on one broker apart.

pub(super) const RUN_KEY: &str = "copilot.run";

#[derive(Clone, Debug)]
pub(super) struct Names {
    /// Direct exchange that every job is published to.
    pub(super) execution: String,
    /// The queue all workers of all processes share.
    pub(super) queue: String,
    /// Where the queue sends what cannot be worked on.
    pub(super) dead_exchange: String,
    /// Keeps it for a person to look at.
    pub(super) dead_queue: String,
    /// Fan-out exchange of cancellations: every process has a queue of its own on it.
    pub(super) cancel: String,
}

impl Names {
    pub(super) fn new(prefix: &str) -> Self {
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
