//! The streams of each situation that a client must be able to show, compared with the recorded ones.

mod endings;
mod long_running;
mod words;

use super::{ENGINE, guarantees, long_running as stage, operations_flow, scripted};
use crate::events::Got;
use crate::recorded::assert_recorded;

fn assert_says(name: &str, events: &[Got]) {
    assert_recorded(ENGINE, name, events);
}
