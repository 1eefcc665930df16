//! The embedded backend, held to the laws and to what is its own.

mod fixture;
mod full_disk;
mod laws;
mod start_up;
