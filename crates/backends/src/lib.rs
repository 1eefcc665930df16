//! Implementations of the ports. `connect` picks a backend and returns its ports; nothing outside this crate knows
//! which one is in use.

mod connect;
mod distributed;
mod live;
mod local;
mod log_feed;
mod options;
mod postgres;
mod probe;
mod rabbitmq;
mod redis;
mod rows;
mod rules;
mod sqlite;
mod transfer;

pub use connect::{BackendHandle, ConnectError, ConnectedBackend, connect};
pub use options::{BackendOptions, ConnectOptions, DistributedOptions};
pub use probe::{ProbeOutcome, ServerProbe, probe};
pub use transfer::{ComparedTable, TransferError, TransferReport, transfer};
