//! Real Postgres, Redis and RabbitMQ servers for tests. `make test` runs everything under the program `with-services`,
//! which starts one of each; a test that breaks its servers starts private ones here. All of them listen on loopback
//! only, keep their things in a temporary folder, and end with the value that stands for them.

mod installation;
mod ports;
mod postgres;
mod process;
mod program;
mod rabbitmq;
mod redis;
mod urls;

pub use installation::Installation;
pub use postgres::{Durability, Postgres};
pub use rabbitmq::RabbitMq;
pub use redis::Redis;
pub use urls::{DATABASE_URL, RABBITMQ_URL, REDIS_URL, Urls};
