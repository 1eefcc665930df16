//! The store, held to the laws and to what is its own, each test in a database of its own.

pub(crate) mod database;
mod faults;
mod feed;
mod fixture;
mod laws;
mod processes;
mod runs;
mod silence;
mod start_up;
mod throughput;
mod trees;
