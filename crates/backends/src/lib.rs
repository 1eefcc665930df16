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
mod permit_usage;
mod postgres;
mod probe;
mod rabbitmq;
mod redis;
mod regenerate_target;
mod schema_status;
mod sqlite;
mod submission_key;
mod title_search;
mod transfer;
mod verdicts;
mod words;

pub use connect::{BackendHandle, ConnectError, ConnectedBackend, connect};
pub use options::{BackendOptions, ConnectOptions, DistributedOptions};
pub use probe::{ProbeOutcome, ServerProbe, probe};
pub use transfer::{ComparedTable, TransferError, TransferReport, transfer};
