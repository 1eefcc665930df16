//! What is behind the seams. `connect` picks a backend and gives back its ports; nothing outside this
//! crate knows which one is in use.

mod connect;
mod distributed;
mod exchanges;
mod feed;
mod fingerprint;
mod folders;
mod key_check;
mod live;
mod local;
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

pub use connect::{Backend, ConnectError, Connected, connect};
pub use options::{BackendOptions, DistributedOptions, Options};
pub use probe::{Outcome, Probe, probe};
pub use transfer::{Compared, TransferError, Transferred, transfer};
