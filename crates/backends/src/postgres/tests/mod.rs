//! Tests of the store, conformance laws included; each test has its own database.

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
