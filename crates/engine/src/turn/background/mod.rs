//! Background calls: tool calls that took longer than their time budget and continue while the turn does other work.

mod call_end;
mod call_list;
mod move_to_background;

pub(crate) use self::call_end::CANCEL_GRACE;
pub(crate) use self::call_list::OwnedBackgroundCalls;
pub(crate) use self::move_to_background::{move_to_background, restore};
