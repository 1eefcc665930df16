//! The port traits of Pilothouse and their laws. Each trait states promises; each promise has a law in
//! `testkit::conformance` that every implementation passes. There are no implementations here.

pub mod agent_generator;
pub mod agent_responses;
pub mod block;
pub mod bus;
pub mod call_services;
pub mod clock;
pub mod completions;
pub mod error;
pub mod files;
pub mod follow;
pub mod leases;
pub mod model;
pub mod outbox;
pub mod queue;
pub mod store;
pub mod stream_log;
pub mod tool;

use std::sync::Arc;

pub use agent_generator::AgentGenerator;
pub use block::Block;
pub use bus::{Bus, BusSignal};
pub use clock::Clock;
pub use completions::Completions;
pub use error::{PortError, PortResult};
pub use files::Files;
pub use follow::{LogFollower, LogUpdate};
pub use leases::Leases;
pub use model::ModelProvider;
pub use outbox::Outbox;
pub use queue::Queue;
pub use store::{
    ApiKeys, BlockRuns, Credits, Executions, FailedDependency, Fenced, FollowUps, Graphs,
    HealthCheck, Library, Listings, Messages, Operations, Reports, Reviews, Sessions, Store, Turns,
    Values,
};
pub use stream_log::StreamLog;
pub use tool::Tool;

/// All ports of a backend.
#[derive(Clone)]
pub struct Ports {
    pub sessions: Arc<dyn Sessions>,
    pub messages: Arc<dyn Messages>,
    pub turns: Arc<dyn Turns>,
    pub follow_ups: Arc<dyn FollowUps>,
    pub operations: Arc<dyn Operations>,
    pub completions: Arc<dyn Completions>,
    pub outbox: Arc<dyn Outbox>,
    pub leases: Arc<dyn Leases>,
    pub queue: Arc<dyn Queue>,
    pub log: Arc<dyn StreamLog>,
    pub bus: Arc<dyn Bus>,
    pub files: Arc<dyn Files>,
    pub api_keys: Arc<dyn ApiKeys>,
    pub graphs: Arc<dyn Graphs>,
    pub library: Arc<dyn Library>,
    pub listings: Arc<dyn Listings>,
    pub executions: Arc<dyn Executions>,
    pub reviews: Arc<dyn Reviews>,
    pub credits: Arc<dyn Credits>,
    pub block_runs: Arc<dyn BlockRuns>,
    pub values: Arc<dyn Values>,
    pub reports: Arc<dyn Reports>,
    pub health: Arc<dyn HealthCheck>,
    pub clock: Arc<dyn Clock>,
}

/// The ports of a backend that are not part of its store.
pub struct ServicePorts {
    pub completions: Arc<dyn Completions>,
    pub queue: Arc<dyn Queue>,
    pub log: Arc<dyn StreamLog>,
    pub bus: Arc<dyn Bus>,
    pub files: Arc<dyn Files>,
    pub health: Arc<dyn HealthCheck>,
    pub clock: Arc<dyn Clock>,
}

impl Ports {
    pub fn new(store: Arc<impl Store + 'static>, services: ServicePorts) -> Self {
        let ServicePorts { completions, queue, log, bus, files, health, clock } = services;
        Self {
            sessions: store.clone(),
            messages: store.clone(),
            turns: store.clone(),
            follow_ups: store.clone(),
            operations: store.clone(),
            completions,
            outbox: store.clone(),
            leases: store.clone(),
            queue,
            log,
            bus,
            files,
            api_keys: store.clone(),
            graphs: store.clone(),
            library: store.clone(),
            listings: store.clone(),
            executions: store.clone(),
            reviews: store.clone(),
            credits: store.clone(),
            block_runs: store.clone(),
            values: store.clone(),
            reports: store,
            health,
            clock,
        }
    }
}
