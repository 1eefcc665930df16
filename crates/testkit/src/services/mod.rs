//! Real Postgres, Redis and RabbitMQ servers for tests. `make test` runs everything under the program `with-services`,
//! which starts one of each; a test that breaks its servers starts its own. All servers listen on loopback only, keep
//! their data in a temporary folder, and stop when their value is dropped.

mod installation;
mod ports;
mod postgres;
mod process;
mod program;
mod rabbitmq;
mod redis;
mod urls;

pub use installation::TestInstallation;
pub use postgres::{CommitDurability, PostgresServer};
pub use rabbitmq::RabbitMqServer;
pub use redis::RedisServer;
pub use urls::{DATABASE_URL, RABBITMQ_URL, REDIS_URL, TestServerUrls};
