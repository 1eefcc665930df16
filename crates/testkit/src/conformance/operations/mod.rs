//! Laws of `Operations`.

mod asked;
mod begun;
mod completed;
mod lined_up;
mod resting;

pub(super) use self::asked::{begin, done, new};
pub use self::begun::*;
pub use self::completed::*;
pub use self::lined_up::*;
pub use self::resting::*;

#[macro_export]
macro_rules! operations_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, operations:
            an_operation_is_begun_once_for_every_call,
            a_session_has_no_more_operations_than_it_may,
            an_operation_runs_beside_its_session,
            an_accepted_operation_rests_until_it_is_completed,
            an_accepted_operation_rests_through_a_restart,
            an_accepted_operation_is_due_when_its_time_is_over,
            a_cancel_wakes_an_accepted_operation,
            a_cancelled_operation_does_not_rest,
            an_operation_is_completed_once,
            a_completion_that_comes_early_leaves_the_turn_with_its_worker,
            an_operation_lines_up_behind_the_turns_before_it,
            an_operation_that_nobody_is_before_goes_on_at_once,
            an_operation_that_ends_without_a_result_gets_one,
            a_session_with_an_open_operation_is_not_regenerated,
            an_operation_is_seen_by_its_owner_only,
        );
    };
}
