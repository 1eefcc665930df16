//! Event streams: the response bodies that follow a turn or an execution, and the limit on open streams.

pub(crate) mod event_stream;
mod stream_permits;
pub(crate) mod turn_stream;

pub(crate) use self::stream_permits::{StreamPermit, StreamPermits};
