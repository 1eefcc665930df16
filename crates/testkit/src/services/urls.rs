//! Where the servers are that a test run shares.

use anyhow::{Context, Result};

pub const DATABASE_URL: &str = "DATABASE_URL";
pub const REDIS_URL: &str = "REDIS_URL";
pub const RABBITMQ_URL: &str = "RABBITMQ_URL";

#[derive(Clone, Debug)]
pub struct Urls {
    pub database: String,
    pub redis: String,
    pub rabbitmq: String,
}

impl Urls {
    /// From the environment, as `with-services` has set it.
    pub fn of_run() -> Result<Self> {
        let found = |name: &str| {
            Self::given(name).with_context(|| {
                format!("{name} is not set: run the tests with `make test`, which starts the servers they need")
            })
        };
        Ok(Self {
            database: found(DATABASE_URL)?,
            redis: found(REDIS_URL)?,
            rabbitmq: found(RABBITMQ_URL)?,
        })
    }

    /// One of them, if somebody has named it. An empty value counts as none.
    #[expect(
        clippy::disallowed_methods,
        reason = "the servers of a test run are told by its environment"
    )]
    pub fn given(name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// As settings for a program.
    pub fn settings(&self) -> [(&'static str, &str); 3] {
        [
            (DATABASE_URL, self.database.as_str()),
            (REDIS_URL, self.redis.as_str()),
            (RABBITMQ_URL, self.rabbitmq.as_str()),
        ]
    }
}
