//! The statements that lease and relay jobs. The tables of turns and executions differ only in a few names.

use protocol::Job;

use crate::rules::job_kind::of_kind;

pub(crate) struct JobStatements {
    /// `?1` id, `?2` fence, `?3` the new end of the lease. Returns whether a stop was requested.
    pub(crate) renew: &'static str,
    /// `?1` id, `?2` fence, `?3` when it is due.
    pub(crate) hand_back: &'static str,
    /// `?1` now, `?2` limit. Jobs that wait for a worker, and those whose lease has expired; oldest first.
    pub(crate) due: &'static str,
    /// `?1` id, `?2` when it is due again, `?3` now. A job that was claimed or ended meanwhile has left the outbox and
    /// stays out.
    pub(crate) pushed: &'static str,
    /// `?1` now. The number of due jobs, and since when the oldest of them is due.
    pub(crate) lag: &'static str,
}

macro_rules! due {
    ($table:literal, $queued:literal, $running:literal) => {
        concat!(
            "SELECT id, due_ms AS since, rowid AS number FROM ",
            $table,
            " WHERE status = '",
            $queued,
            "' AND due_ms IS NOT NULL AND due_ms <= ?1
             UNION ALL
             SELECT id, max(lease_until_ms, ifnull(due_ms, 0)) AS since, rowid AS number FROM ",
            $table,
            " WHERE status = '",
            $running,
            "' AND lease_until_ms <= ?1 AND ifnull(due_ms, 0) <= ?1"
        )
    };
}

macro_rules! job_statements {
    (
        $table:literal, queued $queued:literal, running $running:literal,
        stop $stop:literal, relayed $relayed:literal
    ) => {
        JobStatements {
            renew: concat!(
                "UPDATE ",
                $table,
                " SET lease_until_ms = ?3 WHERE id = ?1 AND fence = ?2 AND status = '",
                $running,
                "' RETURNING ",
                $stop
            ),
            hand_back: concat!(
                "UPDATE ",
                $table,
                " SET status = '",
                $queued,
                "', due_ms = ?3, lease_until_ms = NULL, worker = NULL,
                     attempt = max(0, attempt - 1)
                 WHERE id = ?1 AND fence = ?2 AND status = '",
                $running,
                "'"
            ),
            due: concat!(due!($table, $queued, $running), " ORDER BY since, number LIMIT ?2"),
            pushed: concat!(
                "UPDATE ",
                $table,
                " SET due_ms = ?2 WHERE id = ?1 AND (
                     status = '",
                $queued,
                "' AND due_ms IS NOT NULL AND ",
                $relayed,
                " OR status = '",
                $running,
                "' AND lease_until_ms <= ?3)"
            ),
            lag: concat!(
                "SELECT count(*), min(since) FROM (",
                due!($table, $queued, $running),
                ")"
            ),
        }
    };
}

// The due time of a resting turn is not changed, even when it is over: a claim has to see it.
pub(crate) const TURN: JobStatements = job_statements!(
    "turn", queued "queued", running "running", stop "cancel_requested", relayed "rests = 0"
);

pub(crate) const EXECUTION: JobStatements = job_statements!(
    "execution", queued "QUEUED", running "RUNNING", stop "stop_requested", relayed "true"
);

pub(crate) const fn statements(job: &Job) -> &'static JobStatements {
    of_kind(job, &TURN, &EXECUTION)
}
