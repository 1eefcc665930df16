//! Ports within one process: a bus, a clock, a queue, a folder of files.

pub(crate) mod bus;
pub(crate) mod clock;
pub(crate) mod files;
pub(crate) mod queue;
