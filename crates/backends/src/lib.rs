//! Implementations of the ports. `connect` picks a backend and returns its ports; nothing outside this crate knows
//! which one is in use.

mod connect;
mod distributed;
mod exchanges;
mod fingerprint;
mod folders;
mod key_check;
mod live;
mod local;
mod log_feed;
mod open_call;
mod options;
mod postgres;
mod probe;
mod rabbitmq;
mod redis;
mod sqlite;
mod title_search;
mod transfer;
mod verdicts;
mod words;

pub use connect::{BackendHandle, ConnectError, ConnectedBackend, connect};
pub use options::{BackendOptions, ConnectOptions, DistributedOptions};
pub use probe::{ProbeOutcome, ServerProbe, probe};
pub use transfer::{ComparedTable, TransferError, TransferReport, transfer};
