//! Tests against a real broker, whose address is in `RABBITMQ_URL`. Every test has its own exchanges and queues.

mod broker_faults;
mod laws;
mod poison;
mod private_broker;
mod refusals;
pub(crate) mod scratch;
mod sharing;
mod topology_lost;
