//! The turn engine: takes messages in, runs turns on workers, records what they say, ends them once.
//! It knows the seams in `ports` and nothing of what is behind them.

mod cancel;
mod completion;
mod derived;
mod fold;
pub mod graph;
mod intake;
mod nearby;
mod operations;
pub mod options;
mod reach;
mod shutdown;
mod slots;
mod sub_sessions;
mod sweep;
pub mod tasks;
mod title;
mod turn;
mod wait;
mod worker;

use std::sync::Arc;

use ports::{Block, ModelProvider, Ports, Tool};
use tokio::sync::Semaphore;

pub use cancel::{CancelReason, CancelReport};
pub use graph::{
    BlockRefused, BlockRequest, Catalogue, FollowedRun, GraphChanged, GraphSaved, RunFollower,
    StartRun,
};
pub use intake::{FollowUpRequest, Submission, Submitted, What};
pub use options::Options;
pub use worker::Roles;

use crate::nearby::Nearby;
use crate::reach::Reach;
use crate::shutdown::Phase;
use crate::slots::Returning;
use crate::tasks::Tasks;
use crate::turn::registry::Registry;

/// Everything that runs turns. Cheap to clone; built once in `wire.rs`.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) ports: Ports,
    pub(crate) model: Arc<dyn ModelProvider>,
    pub(crate) tools: turn::tool_list::ToolList,
    pub(crate) options: Options,
    pub(crate) tasks: Tasks,
    pub(crate) registry: Registry,
    pub(crate) phase: Phase,
    pub(crate) nearby: Nearby,
    pub(crate) returning: Returning,
    pub(crate) reach: Reach,
    pub(crate) catalogue: Catalogue,
    pub(crate) execution_slots: Arc<Semaphore>,
}

impl Engine {
    pub fn new(
        ports: Ports,
        model: Arc<dyn ModelProvider>,
        tools: Vec<Arc<dyn Tool>>,
        blocks: Vec<Arc<dyn Block>>,
        options: Options,
    ) -> Self {
        let execution_slots = Arc::new(Semaphore::new(options.executions));
        let inner = Inner {
            ports,
            model,
            tools: turn::tool_list::ToolList::new(tools),
            options,
            tasks: Tasks::default(),
            registry: Registry::default(),
            phase: Phase::default(),
            nearby: Nearby::default(),
            returning: Returning::default(),
            reach: Reach::default(),
            catalogue: Catalogue::new(blocks),
            execution_slots,
        };
        Self { inner: Arc::new(inner) }
    }

    pub fn blocks(&self) -> &Catalogue {
        &self.inner.catalogue
    }

    /// What this process is called where people see who works on what.
    pub fn process(&self) -> &str {
        &self.inner.options.process
    }

    /// Whether work is paid for.
    pub fn credits_on(&self) -> bool {
        self.inner.options.credits
    }
}
