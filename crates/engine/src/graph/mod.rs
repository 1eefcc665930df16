//! Agents: graphs of blocks as documents, and their executions, which use the same queue, leases and fences as turns.

mod agent_executions;
mod billing;
mod block_call;
mod block_catalog;
mod child_executions;
mod decide_reviews;
mod delivery;
mod execution_attempt;
mod execution_permit;
mod execution_view;
mod follow_execution;
mod graph_documents;
mod halt;
mod journal;
mod node_copilot;
mod node_task;
mod output_buffer;
pub mod pins;
mod plan;
#[cfg(test)]
mod plan_tests;
mod recovery;
mod scheduler;
pub mod schema;
mod secrets;
mod simulate;
mod start_execution;
mod stop_execution;
mod tool_pins;
pub mod types;
pub mod validate;
mod wait_for_execution;
mod waiting_nodes;

pub(crate) use agent_executions::{AgentExecutionService, count_started};
pub use block_call::{BlockRefused, BlockRequest};
pub use block_catalog::BlockCatalog;
pub(crate) use delivery::take_delivery;
pub use follow_execution::{ExecutionFollower, ExecutionUpdate};
pub use graph_documents::{GraphChanged, GraphSaved};
pub use start_execution::StartExecution;

/// Ids of blocks that the engine treats specially, because they start executions and turns.
pub(crate) const AGENT_EXECUTOR: &str = "e189baac-8c20-45a1-94a7-55177ea42565";
pub(crate) const AUTOPILOT: &str = "c069dc6b-c3ed-4c12-b6e5-d47361e64ce6";
/// One credit is charged per this many node runs of an execution.
const NODE_RUNS_PER_CREDIT: u64 = 100;
