//! Laws of `Operations`.

mod asked_operation;
mod begun;
mod completed;
mod lined_up;
mod resting;

pub(crate) use self::asked_operation::{begin, done, new};
pub use self::begun::*;
pub use self::completed::*;
pub use self::lined_up::*;
pub use self::resting::*;

#[macro_export]
macro_rules! operations_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, operations:
            an_operation_is_started_once_per_call,
            open_operations_are_limited_per_session,
            an_operation_runs_concurrently_with_its_session,
            an_accepted_operation_waits_until_it_is_completed,
            an_accepted_operation_waits_through_a_restart,
            an_accepted_operation_is_due_when_its_time_limit_expires,
            a_cancel_wakes_an_accepted_operation,
            a_cancelled_operation_does_not_wait,
            an_operation_is_completed_once,
            an_early_completion_leaves_the_turn_with_its_worker,
            an_operation_joins_its_session_after_earlier_turns,
            an_operation_with_no_earlier_turn_continues_at_once,
            an_operation_that_ends_without_a_result_gets_one,
            a_session_with_an_open_operation_is_not_regenerated,
            an_operation_is_seen_by_its_owner_only,
        );
    };
}
