//! What is behind the seams. `connect` picks a backend and gives back its ports; nothing outside this
//! crate knows which one is in use.

mod connect;
mod local;
mod options;
mod sqlite;

pub use connect::{Backend, ConnectError, Connected, connect};
pub use options::{BackendOptions, Options};
