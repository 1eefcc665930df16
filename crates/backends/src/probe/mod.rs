//! Tries the servers of a distributed installation one by one, changes nothing, and says what to do about what is wrong.

pub(crate) mod dial;
mod postgres;
mod rabbitmq;
mod redis;

use std::time::Duration;

use crate::options::{BackendOptions, Options};

/// How long one server may take to show what it is.
const PATIENCE: Duration = Duration::from_secs(3);

/// What was found out about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    pub name: &'static str,
    pub outcome: Outcome,
    /// What was found, as half a sentence.
    pub found: String,
    /// What to do about it, as a whole one.
    pub advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Good,
    /// Works, but not as well as it could.
    Note,
    Bad,
}

/// All servers at the same time. The embedded store has none.
pub async fn probe(options: &Options) -> Vec<Probe> {
    let BackendOptions::Distributed(servers) = &options.backend else { return Vec::new() };
    let (mut probes, redis, rabbitmq) = tokio::join!(
        postgres::probe(&servers.postgres_url, servers.postgres_connections),
        redis::probe(&servers.redis_url),
        rabbitmq::probe(&servers.rabbitmq_url, &servers.rabbitmq_prefix),
    );
    probes.extend(redis);
    probes.push(rabbitmq);
    probes
}

impl Probe {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Good, found: found.into(), advice: None }
    }

    fn note(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Note, found: found.into(), advice: Some(advice.into()) }
    }

    fn bad(name: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, outcome: Outcome::Bad, found: found.into(), advice: Some(advice.into()) }
    }
}
