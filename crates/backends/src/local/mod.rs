//! What one process has in itself: a bus, a clock, a folder of files.

pub(crate) mod bus;
pub(crate) mod clock;
pub(crate) mod files;
