//! The embedded backend, held to the laws and to what is its own.

mod fixture;
mod laws;
mod long_running;
mod start_up;
