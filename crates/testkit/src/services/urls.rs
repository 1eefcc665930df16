//! URLs of the servers that a test run shares.

use anyhow::{Context, Result};

pub const DATABASE_URL: &str = "DATABASE_URL";
pub const REDIS_URL: &str = "REDIS_URL";
pub const RABBITMQ_URL: &str = "RABBITMQ_URL";

#[derive(Clone, Debug)]
pub struct TestServerUrls {
    pub database: String,
    pub redis: String,
    pub rabbitmq: String,
}

impl TestServerUrls {
    /// Reads the environment that `with-services` sets.
    pub fn from_env() -> Result<Self> {
        let found = |name: &str| {
            Self::from_variable(name).with_context(|| {
                format!("{name} is not set: run the tests with `make test`, which starts the servers they need")
            })
        };
        Ok(Self {
            database: found(DATABASE_URL)?,
            redis: found(REDIS_URL)?,
            rabbitmq: found(RABBITMQ_URL)?,
        })
    }

    /// The URL in this environment variable, if it is set and not empty.
    #[expect(
        clippy::disallowed_methods,
        reason = "the servers of a test run are set in its environment"
    )]
    pub fn from_variable(name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// Environment variables for a program.
    pub fn settings(&self) -> [(&'static str, &str); 3] {
        [
            (DATABASE_URL, self.database.as_str()),
            (REDIS_URL, self.redis.as_str()),
            (RABBITMQ_URL, self.rabbitmq.as_str()),
        ]
    }
}
