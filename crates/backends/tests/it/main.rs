//! Tests of the embedded backend, conformance laws included.

mod fixture;
mod laws;
mod long_running;
mod start_up;
