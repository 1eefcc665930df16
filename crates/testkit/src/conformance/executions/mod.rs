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
            an_ended_parent_starts_no_execution,
            execution_depth_is_limited,
            executions_are_listed_newest_first,
            open_executions_are_counted,
            a_stale_claim_of_an_execution_changes_nothing,
            running_executions_are_limited_per_user,
            an_open_execution_survives_a_restart,
            the_journal_is_dense,
            the_journal_is_read_in_whole_batches,
            a_repeated_batch_is_written_once,
            a_batch_is_written_with_its_charges_and_reviews,
            many_executions_advance_at_once,
            an_execution_ends_once,
            an_execution_waits_only_while_a_review_is_pending,
            a_later_claim_can_wait_for_a_review_again,
            a_waiting_execution_survives_a_restart,
            a_stopped_execution_does_not_wait,
            a_stop_reaches_all_children,
            a_stop_ends_executions_without_a_lease,
            a_stop_withdraws_pending_reviews,
            a_stopped_execution_is_claimed_beyond_the_cap,
            an_ended_execution_can_be_deleted,
            a_deleted_execution_deletes_its_children,
        );
    };
}
