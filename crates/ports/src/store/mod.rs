//! Everything that must survive, one small trait per noun. What must happen together is one method; a
//! write with an old fence changes nothing and says `Stale`; every read and write is scoped to an owner
//! or to a claim.

mod api_keys;
mod credits;
mod executions;
mod follow_ups;
mod graphs;
mod library;
mod messages;
mod operations;
mod reports;
mod reviews;
mod sessions;
mod turns;
mod values;

use async_trait::async_trait;

pub use api_keys::{ApiKey, ApiKeys, NewApiKey};
pub use credits::{BlockOutcome, BlockRunBegun, BlockRuns, Credits, NewBlockRun};
pub use executions::{
    Advance, Advanced, ExecutionClaimed, ExecutionCreated, ExecutionDeleted, Executions,
    JournalBatch, ListExecutions, NewExecution, Then,
};
pub use follow_ups::{FollowUps, NewFollowUp, Pushed};
pub use graphs::{GraphCreated, GraphDeleted, Graphs};
pub use library::{AgentAdded, AgentChange, FolderWritten, Library, Listings, Published};
pub use messages::{Messages, Page};
pub use operations::{Begun, NewOperation, OperationCompleted, Operations, Which};
pub use reports::{DayOfUse, LiveExecution, LiveExecutions, LiveTurn, Reports, Workload};
pub use reviews::{Decided, Reviews, Verdict};
pub use sessions::{Assigned, ListSessions, NewSession, SessionPage, Sessions, Title};
pub use turns::{
    Ending, Entry, Finished, JournaledCall, NewTurn, OpenTurns, Opened, Outbox, Parent, Parked,
    ParkedEnd, Progress, Record, TurnKind, Turns, WhenBusy,
};
pub use values::Values;

/// The answer to a write that carries a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced<T> {
    Done(T),
    /// The turn was claimed again, ended, or is gone. Nothing was changed.
    Stale,
}

#[async_trait]
pub trait Health: Send + Sync {
    /// Tries everything the backend depends on, at the same time and each within a bound of its own, and gives what
    /// does not work.
    async fn failing(&self) -> Vec<Failing>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// What fails, in one word that stays the same: `store`, `postgres`, `redis`, `rabbitmq`.
    pub name: &'static str,
    pub reason: String,
}
