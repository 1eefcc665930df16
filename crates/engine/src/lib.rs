//! The engine: accepts messages, runs turns and executions on workers, records their output, and ends each of them
//! once. It depends on the traits in `ports` and not on any backend.

mod cancel;
mod deterministic_id;
mod end_turn;
pub mod graph;
mod local_fallback_queue;
mod log_summary;
mod operations;
pub mod options;
mod retry;
mod shutdown;
mod store_health;
mod sub_sessions;
mod submit;
mod sweep;
pub mod tasks;
mod title;
mod turn;
mod wait_for_turn;
mod worker;
mod worker_permit;

use std::sync::Arc;

use ports::{Block, ModelProvider, Ports, Tool};
use tokio::sync::Semaphore;

pub use cancel::{CancelReason, CancelReport};
pub use graph::{
    BlockCatalog, BlockRefused, BlockRequest, ExecutionFollower, ExecutionUpdate, GraphChanged,
    GraphSaved, StartExecution,
};
pub use options::EngineOptions;
pub use submit::{FollowUpRequest, SubmissionKind, SubmissionOutcome, TurnSubmission};
pub use worker::EngineRoles;

use crate::local_fallback_queue::LocalFallbackQueue;
use crate::shutdown::ShutdownSignal;
use crate::store_health::StoreHealth;
use crate::tasks::TaskSpawner;
use crate::turn::registry::JobRegistry;
use crate::worker_permit::PermitQueue;

/// Runs turns and executions. Cheap to clone; built once in `wire.rs`.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<EngineInner>,
}

pub(crate) struct EngineInner {
    pub(crate) ports: Ports,
    pub(crate) model: Arc<dyn ModelProvider>,
    pub(crate) tools: turn::tool_list::ToolList,
    pub(crate) options: EngineOptions,
    pub(crate) tasks: TaskSpawner,
    pub(crate) registry: JobRegistry,
    pub(crate) shutdown_signal: ShutdownSignal,
    pub(crate) local_queue: LocalFallbackQueue,
    pub(crate) permit_queue: PermitQueue,
    pub(crate) store_health: StoreHealth,
    pub(crate) catalog: BlockCatalog,
    pub(crate) execution_permits: Arc<Semaphore>,
}

impl Engine {
    pub fn new(
        ports: Ports,
        model: Arc<dyn ModelProvider>,
        tools: Vec<Arc<dyn Tool>>,
        blocks: Vec<Arc<dyn Block>>,
        options: EngineOptions,
    ) -> Self {
        let execution_permits = Arc::new(Semaphore::new(options.executions));
        let inner = EngineInner {
            ports,
            model,
            tools: turn::tool_list::ToolList::new(tools),
            options,
            tasks: TaskSpawner::default(),
            registry: JobRegistry::default(),
            shutdown_signal: ShutdownSignal::default(),
            local_queue: LocalFallbackQueue::default(),
            permit_queue: PermitQueue::default(),
            store_health: StoreHealth::default(),
            catalog: BlockCatalog::new(blocks),
            execution_permits,
        };
        Self { inner: Arc::new(inner) }
    }

    pub fn blocks(&self) -> &BlockCatalog {
        &self.inner.catalog
    }

    /// The name of this process, as shown to operators.
    pub fn process(&self) -> &str {
        &self.inner.options.process
    }

    /// Whether users pay for work with credits.
    pub fn credits_on(&self) -> bool {
        self.inner.options.credits
    }
}
