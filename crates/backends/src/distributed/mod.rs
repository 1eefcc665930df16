//! The distributed backend: Postgres is the source of truth, Redis and RabbitMQ carry notifications and jobs.

use std::sync::Arc;

use async_trait::async_trait;
use ports::{Bus, BusSignal, FailedDependency, HealthCheck, Ports, ServicePorts};
use tokio::sync::broadcast;

use crate::connect::ConnectError;
use crate::local::clock::SystemClock;
use crate::local::files::LocalFiles;
use crate::options::{ConnectOptions, DistributedOptions};
use crate::postgres::PostgresStore;
use crate::rabbitmq::{RabbitBroker, RabbitCancel};
use crate::redis::{RECLAIM, RedisBackend, RedisHints, RedisOptions};

/// Hints that may wait for a slow receiver.
const HINTS: usize = 1024;

/// The three servers, for one process.
pub(crate) struct DistributedServers {
    postgres: PostgresStore,
    redis: RedisBackend,
    rabbit: RabbitBroker,
}

pub(crate) async fn connect(
    options: &ConnectOptions,
    servers: &DistributedOptions,
) -> Result<(Ports, Arc<DistributedServers>), ConnectError> {
    let files = LocalFiles::open(servers.data.join("workspaces")).await.map_err(|source| {
        ConnectError::Directory { directory: servers.data.clone(), reason: source.to_string() }
    })?;
    let clock = Arc::new(SystemClock);
    let signals = broadcast::Sender::new(HINTS);
    let redis_options = RedisOptions {
        url: servers.redis_url.expose().to_owned(),
        stream_ttl: servers.stream_ttl,
        reclaim: RECLAIM,
        deaf: options.deaf,
    };
    let redis = RedisBackend::connect(&redis_options, signals.clone()).await?;
    let rabbit = RabbitBroker::connect(
        servers.rabbitmq_url.expose(),
        &servers.rabbitmq_prefix,
        signals.clone(),
    )
    .await?;
    let postgres = PostgresStore::connect(
        servers.postgres_url.expose(),
        servers.postgres_connections,
        options.encryption_key.as_ref(),
        options.caps,
        clock.clone(),
        redis.feed(),
    )
    .await?;
    let store = Arc::new(postgres.clone());
    let bus =
        SharedBus { cancel: rabbit.cancel(), hints: redis.hints(), signals, deaf: options.deaf };
    let log = redis.log(store.clone(), store.clone());
    let (queue, completions) = (rabbit.queue(), redis.completions());
    let distributed = Arc::new(DistributedServers { postgres, redis, rabbit });
    let ports = Ports::new(
        store,
        ServicePorts {
            completions,
            queue: Arc::new(queue),
            log: Arc::new(log),
            bus: Arc::new(bus),
            files: Arc::new(files),
            health: distributed.clone(),
            clock,
        },
    );
    Ok((ports, distributed))
}

impl DistributedServers {
    /// Redis and RabbitMQ first: unsettled messages are returned, and the store has whatever they lose.
    pub(crate) async fn close(&self) {
        tokio::join!(self.rabbit.close(), self.redis.close());
        self.postgres.close().await;
    }
}

#[async_trait]
impl HealthCheck for DistributedServers {
    async fn failing(&self) -> Vec<FailedDependency> {
        let (postgres, redis, rabbit) =
            tokio::join!(self.postgres.failing(), self.redis.failing(), self.rabbit.failing());
        [postgres, redis, rabbit].into_iter().flatten().collect()
    }
}

/// Cancellations go through the broker, which has a queue for every process; other hints go through Redis. Both are
/// received on one channel.
struct SharedBus {
    cancel: RabbitCancel,
    hints: RedisHints,
    signals: broadcast::Sender<BusSignal>,
    deaf: bool,
}

impl Bus for SharedBus {
    fn publish(&self, signal: BusSignal) {
        match signal {
            _ if self.deaf => {}
            BusSignal::Cancel(job) => self.cancel.publish(job),
            BusSignal::Ended(job) => self.hints.ended(job),
            BusSignal::Moved(run) => self.hints.moved(run),
        }
    }

    fn subscribe(&self) -> broadcast::Receiver<BusSignal> {
        self.signals.subscribe()
    }
}

#[cfg(test)]
mod tests;
