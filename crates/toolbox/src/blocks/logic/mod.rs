//! Blocks that branch, calculate and iterate.

mod calculator;
mod condition;
mod matches;
mod step_through;

use std::sync::Arc;

use ports::Block;

pub(super) fn all() -> Vec<Arc<dyn Block>> {
    vec![calculator::block(), condition::block(), matches::block(), step_through::block()]
}
