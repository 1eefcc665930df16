//! Agents: graphs of blocks as documents, and their runs on the same queue, leases and fences as turns.

mod agent_runs;
mod billing;
mod block_call;
mod catalogue;
mod children;
mod copilot;
mod delivery;
mod documents;
mod flow;
mod follow;
mod halt;
mod journal;
mod node;
mod outlet;
pub mod pins;
mod plan;
#[cfg(test)]
mod plan_tests;
mod recovery;
mod reviews;
mod run;
pub mod schema;
mod secrets;
mod simulate;
mod slot;
mod start;
mod stop;
mod tool_pins;
pub mod types;
pub mod validate;
mod view;
mod wait;
mod waiting;

pub(crate) use agent_runs::{Runs, started};
pub use block_call::{BlockRefused, BlockRequest};
pub use catalogue::Catalogue;
pub(crate) use delivery::take;
pub use documents::{GraphChanged, GraphSaved};
pub use follow::{FollowedRun, RunFollower};
pub use start::StartRun;

/// Blocks that the engine knows by name, because they start runs and turns.
pub(crate) const AGENT_EXECUTOR: &str = "e189baac-8c20-45a1-94a7-55177ea42565";
pub(crate) const AUTOPILOT: &str = "c069dc6b-c3ed-4c12-b6e5-d47361e64ce6";
/// Node runs of one execution for which a credit is due.
const RUNS_PER_CREDIT: u64 = 100;
