//! The engine under a simulated world that fails in every way it can.

mod checks;
mod client;
mod fleet;
mod log_checks;
mod plan;
mod simulation;
mod tally;
