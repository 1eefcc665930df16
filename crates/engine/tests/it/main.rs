//! The engine in a simulated environment with all kinds of faults.

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
