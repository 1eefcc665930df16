//! Durable state, with one small trait per noun. Writes that must happen together are one method; a write with an old fence
//! changes nothing and returns `Stale`; every read and write is scoped to an owner or to a claim.

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
    AfterAdvance, ExecutionAdvance, ExecutionAdvanced, ExecutionCreated, ExecutionDeleted,
    Executions, JournalBatch, ListExecutions, NewExecution,
};
pub use follow_ups::{FollowUpPushed, FollowUps, NewFollowUp};
pub use graphs::{GraphCreated, GraphDeleted, Graphs, VersionAdded, VersionTerms};
pub use library::{AgentAdded, AgentChange, FolderWritten, Library, ListingPublished, Listings};
pub use messages::{MessagePage, Messages};
pub use operations::{NewOperation, OperationBegun, OperationCompleted, OperationKey, Operations};
pub use reports::{
    DailyUsage, LiveExecution, LiveExecutions, LiveJob, LiveTurn, ProcessWorkload, Reports,
};
pub use reviews::{ReviewVerdict, Reviews, ReviewsDecided};
pub use sessions::{ListSessions, NewSession, SessionAssigned, SessionPage, Sessions, TitleChange};
pub use turns::{
    BackgroundEnd, BackgroundRecord, JournalEntry, JournalRecord, JournaledCall, NewTurn,
    OpenTurns, ParentTurn, TurnEnding, TurnFinished, TurnKind, TurnOpened, TurnProgress, Turns,
    WhenBusy,
};
pub use values::Values;

use crate::{Leases, Outbox};

/// Everything that one database implements. A store says `impl Store for …`, and the compiler names what is missing.
pub trait Store:
    ApiKeys
    + BlockRuns
    + Credits
    + Executions
    + FollowUps
    + Graphs
    + Leases
    + Library
    + Listings
    + Messages
    + Operations
    + Outbox
    + Reports
    + Reviews
    + Sessions
    + Turns
    + Values
{
}

/// The result of a write that carries a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced<T> {
    Done(T),
    /// The turn was claimed again, ended, or deleted. Nothing was changed.
    Stale,
}

#[async_trait]
pub trait HealthCheck: Send + Sync {
    /// Checks all dependencies of the backend at the same time, each with its own time limit, and returns those that fail.
    async fn failing(&self) -> Vec<FailedDependency>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedDependency {
    /// The dependency, as a stable word: `store`, `postgres`, `redis`, `rabbitmq`.
    pub name: &'static str,
    pub reason: String,
}
