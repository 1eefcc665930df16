//! The streams of each situation that a client must be able to show, compared with the recorded ones.

mod endings;
mod long_running;
mod text_and_tools;

use super::{ENGINE, long_running as long_work, operations_flow, scripted};
use crate::events::ReceivedEvent;
use crate::recorded::assert_recorded;

fn assert_says(name: &str, events: &[ReceivedEvent]) {
    assert_recorded(ENGINE, name, events);
}
