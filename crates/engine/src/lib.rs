//! The engine: accepts messages, runs turns and executions on workers, records their output, and ends each of them
//! once. It depends on the traits in `ports` and not on any backend.

mod cancel;
mod deterministic_id;
mod execution;
pub mod graph;
mod job;
mod log_summary;
mod operations;
pub mod options;
mod reported_agent;
mod shutdown;
mod sub_sessions;
mod submit;
pub mod tasks;
mod title;
mod turn;
mod wait_for_turn;
mod worker;

use std::sync::Arc;

use ports::{Block, ModelProvider, Ports, Tool};
use tokio::sync::Semaphore;

pub use cancel::{CancelReason, CancelReport};
pub use execution::{
    BlockRefused, BlockRequest, ExecutionFollower, ExecutionUpdate, RehearsalRefused,
    RehearseAgent, StartExecution,
};
pub use graph::{
    AgentDocument, AgentEdited, BlockCatalog, EditsUndo, GraphChanged, GraphSaved, ResolvedAgent,
    SavePolicy, state_of,
};
pub use options::EngineOptions;
pub use submit::{FollowUpRequest, SubmissionKind, SubmissionOutcome, TurnSubmission};
pub use worker::EngineRoles;

use crate::job::local_fallback_queue::LocalFallbackQueue;
use crate::job::registry::JobRegistry;
use crate::job::store_health::StoreHealth;
use crate::job::worker_permit::PermitQueue;
use crate::shutdown::ShutdownSignal;
use crate::tasks::TaskSpawner;

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
    pub(crate) document_permits: Arc<Semaphore>,
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
            document_permits: Arc::new(Semaphore::new(graph::document_stages::CONCURRENT_STAGES)),
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
