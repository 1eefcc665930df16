//! The only module that spawns tasks. Every task has a kind, is counted, and is waited for at shutdown.

use std::future::Future;

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

/// The purpose of a task and its metric label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// Takes deliveries and runs turns.
    Worker,
    /// One turn, in a task separate from its worker, so that a panic affects only the turn.
    Turn,
    /// Ends a turn or execution whose attempt panicked.
    AttemptGuard,
    /// One tool call, which may outlive its step.
    Tool,
    /// One execution.
    Execution,
    /// One block that runs outside a graph.
    Block,
    /// Stores the chunks of one turn.
    ChunkWriter,
    /// Receives the completions of operations.
    Completions,
    /// Reads the outbox.
    Sweeper,
    /// Receives cancel hints.
    Listener,
    /// Requests a title.
    Title,
    /// Serves one connection or one background job of the HTTP server.
    Http,
}

impl TaskKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Turn => "turn",
            Self::AttemptGuard => "keeper",
            Self::Tool => "tool",
            Self::Execution => "execution",
            Self::Block => "block",
            Self::ChunkWriter => "pen",
            Self::Completions => "completions",
            Self::Sweeper => "sweeper",
            Self::Listener => "listener",
            Self::Title => "title",
            Self::Http => "http",
        }
    }
}

#[derive(Clone, Default)]
pub struct TaskSpawner {
    tracker: TaskTracker,
}

impl TaskSpawner {
    #[expect(clippy::disallowed_methods, reason = "the only caller of spawn")]
    pub fn spawn<F>(&self, kind: TaskKind, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let gauge = metrics::gauge!("pilothouse_tasks", "kind" => kind.as_str());
        tokio::spawn(self.tracker.track_future(async move {
            let _counted = Counted::new(gauge);
            future.await
        }))
    }

    /// Waits until every task has ended. Call it once no more tasks are spawned.
    pub async fn wait_all(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// Counts a task until it is dropped, including by a panic.
struct Counted(metrics::Gauge);

impl Counted {
    fn new(gauge: metrics::Gauge) -> Self {
        gauge.increment(1.0);
        Self(gauge)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}
