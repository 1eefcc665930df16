//! The engine under a simulated world that fails in every way it can.

mod checks;
mod client;
mod fleet;
mod follow_up_checks;
mod log_checks;
mod operation_checks;
mod outside;
mod plan;
mod simulation;
mod tally;
mod tree_checks;
