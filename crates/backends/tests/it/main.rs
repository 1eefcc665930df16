//! The embedded backend, held to the laws and to what is its own.

mod fixture;
mod laws;
mod start_up;
