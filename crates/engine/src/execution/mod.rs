//! Executions: how the graph of an agent runs. A worker claims an execution like a turn, replays its journal, and the
//! scheduler runs its nodes until nothing is left to do.

mod agent_executions;
mod billing;
mod block_call;
mod child_executions;
mod collected_outputs;
mod execution_view;
mod follow_execution;
mod journal;
mod leased_execution;
mod node_copilot;
mod node_task;
mod output_buffer;
mod plan;
mod plan_node;
#[cfg(test)]
mod plan_tests;
mod recovery;
mod rehearsal;
mod reviews;
mod scheduler;
mod start_execution;
mod stop_execution;
mod wait_for_execution;
mod waiting_nodes;

pub(crate) use agent_executions::{AgentExecutionService, count_started};
pub use block_call::{BlockRefused, BlockRequest};
pub use follow_execution::{ExecutionFollower, ExecutionUpdate};
pub(crate) use leased_execution::LeasedExecution;
pub use rehearsal::{RehearsalRefused, RehearseAgent};
pub use start_execution::StartExecution;

/// Id of the block that asks the copilot. The engine treats it specially, because it starts turns.
const AUTOPILOT: &str = "c069dc6b-c3ed-4c12-b6e5-d47361e64ce6";
