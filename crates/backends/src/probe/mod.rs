//! Checks the servers of a distributed installation without changing anything, and advises how to fix problems.

pub(crate) mod dial;
mod postgres;
mod rabbitmq;
mod redis;

use std::time::Duration;

use crate::options::{BackendOptions, ConnectOptions};

/// Time limit per server.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProbe {
    pub name: &'static str,
    pub outcome: ProbeOutcome,
    /// The finding, as a sentence fragment.
    pub found: String,
    /// What to do about it, as a sentence.
    pub advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeOutcome {
    Good,
    /// Works, but could be better.
    Note,
    Bad,
}

/// Checks all servers at the same time. The embedded store has none.
pub async fn probe(options: &ConnectOptions) -> Vec<ServerProbe> {
    let BackendOptions::Distributed(servers) = &options.backend else { return Vec::new() };
    let (mut probes, redis, rabbitmq) = tokio::join!(
        postgres::probe(servers.postgres_url.expose(), servers.postgres_connections),
        redis::probe(servers.redis_url.expose()),
        rabbitmq::probe(servers.rabbitmq_url.expose(), &servers.rabbitmq_prefix),
    );
    probes.extend(redis);
    probes.push(rabbitmq);
    probes
}

impl ServerProbe {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, outcome: ProbeOutcome::Good, found: found.into(), advice: None }
    }

    fn note(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, outcome: ProbeOutcome::Note, found: found.into(), advice: Some(advice.into()) }
    }

    fn bad(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, outcome: ProbeOutcome::Bad, found: found.into(), advice: Some(advice.into()) }
    }
}
