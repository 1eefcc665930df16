//! Turns: what a worker does with the claim of a turn. `leased_turn` is the claim, `turn_attempt` the step loop, and each
//! other file one part of an attempt.

mod background;
mod begin_operation;
mod call_services;
mod compaction;
mod context;
pub(crate) mod decide;
mod end_turn;
#[cfg(test)]
mod fixtures;
mod follow_ups;
mod last_rows;
mod leased_turn;
mod log_ending;
mod model_call;
mod model_step;
mod open_parts;
mod operation_step;
pub(crate) mod output;
mod recorder;
mod response_state;
mod takeover;
mod tool_call;
mod tool_caller;
pub(crate) mod tool_list;
mod tool_step;
mod turn_attempt;
mod turn_permits;
mod turn_writer;

pub(crate) use self::leased_turn::LeasedTurn;
