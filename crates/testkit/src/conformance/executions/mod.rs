//! Laws of `Executions`.

mod claims;
mod created;
mod deleted;
mod journal;
mod resting;
mod stop;

pub use self::claims::*;
pub use self::created::*;
pub use self::deleted::*;
pub use self::journal::*;
pub use self::resting::*;
pub use self::stop::*;

#[macro_export]
macro_rules! executions_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, executions:
            an_execution_is_created_once,
            a_new_execution_is_due,
            an_execution_is_seen_by_its_user_only,
            a_parent_that_has_ended_starts_no_execution,
            an_execution_is_not_too_deep,
            executions_are_listed_newest_first,
            open_executions_are_counted,
            an_execution_has_one_holder,
            every_claim_of_an_execution_raises_the_fence,
            a_repeated_claim_of_an_execution_is_the_same,
            a_stale_claim_of_an_execution_changes_nothing,
            a_renewed_execution_stays_with_its_holder,
            a_lapsed_execution_is_due_again,
            a_claimed_execution_is_not_due,
            a_handed_back_execution_does_not_count_as_crashed,
            no_more_executions_run_than_the_cap,
            an_open_execution_survives_a_restart,
            the_journal_is_dense,
            the_journal_is_read_in_whole_batches,
            a_batch_that_is_repeated_is_written_once,
            a_batch_is_written_with_its_charges_and_reviews,
            many_executions_advance_at_once,
            an_execution_ends_once,
            an_execution_rests_only_while_a_review_waits,
            a_later_claim_can_rest_like_the_one_before,
            a_resting_execution_survives_a_restart,
            a_stopped_execution_does_not_rest,
            a_stop_reaches_all_children,
            a_stop_ends_what_nobody_holds,
            a_stop_withdraws_the_reviews,
            a_stopped_execution_is_claimed_beyond_the_cap,
            an_ended_execution_can_be_deleted,
            a_deleted_execution_takes_its_children_along,
        );
    };
}
