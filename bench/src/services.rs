//! The servers used by the distributed engine. They are started once for the benchmark, and every measured server gets its
//! own database and queues on them.

use anyhow::{Context, Result};
use testkit::services::{Durability, Installation, Postgres, RabbitMq, Redis, Urls};

pub(crate) struct Services {
    postgres: Postgres,
    redis: Redis,
    rabbitmq: RabbitMq,
}

impl Services {
    /// They end with the calling thread. The broker starts slowest, so it is started first.
    pub(crate) fn start() -> Result<Self> {
        let mut rabbitmq = RabbitMq::launch()?;
        let mut redis = Redis::launch()?;
        // The embedded engine writes to stable storage, so these must as well.
        let mut postgres = Postgres::launch_as(Durability::Synced)?;
        postgres.wait()?;
        redis.wait()?;
        rabbitmq.wait()?;
        Ok(Self { postgres, redis, rabbitmq })
    }

    pub(crate) fn installation(&self) -> Result<Installation> {
        Installation::create(&Urls {
            database: self.postgres.url(),
            redis: self.redis.url(),
            rabbitmq: self.rabbitmq.url(),
        })
    }

    /// Their processes, whose descendants count as well.
    pub(crate) fn pids(&self) -> [u32; 3] {
        [self.postgres.pid(), self.redis.pid(), self.rabbitmq.pid()]
    }

    pub(crate) fn redis_port(&self) -> Result<u16> {
        let url = self.redis.url();
        let (_, rest) = url.rsplit_once(':').context("the URL of Redis names a port")?;
        let port = rest.split('/').next().unwrap_or(rest);
        port.parse().context("the URL of Redis names a port")
    }
}
