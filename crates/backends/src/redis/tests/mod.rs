//! The laws of the log with Redis in between, and what is its own: what happens when Redis forgets, dies or is silent.

mod carried;
mod completions;
mod laws;
mod outages;
mod process;
pub(crate) mod server;
