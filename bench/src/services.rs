//! The servers used by the distributed engine. They are started once for the benchmark, and every measured server gets its
//! own database and queues on them.

use anyhow::{Context, Result};
use testkit::services::{
    CommitDurability, PostgresServer, RabbitMqServer, RedisServer, TestInstallation, TestServerUrls,
};

pub(crate) struct Services {
    postgres: PostgresServer,
    redis: RedisServer,
    rabbitmq: RabbitMqServer,
}

impl Services {
    /// They end with the calling thread. The broker starts slowest, so it is started first.
    pub(crate) fn start() -> Result<Self> {
        let mut rabbitmq = RabbitMqServer::launch()?;
        let mut redis = RedisServer::launch()?;
        // The embedded engine writes to stable storage, so these must as well.
        let mut postgres = PostgresServer::launch_as(CommitDurability::Synced)?;
        postgres.wait()?;
        redis.wait()?;
        rabbitmq.wait()?;
        Ok(Self { postgres, redis, rabbitmq })
    }

    pub(crate) fn installation(&self) -> Result<TestInstallation> {
        TestInstallation::create(&TestServerUrls {
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
