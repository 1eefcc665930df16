//! The statements that lease and relay jobs. The tables of turns and executions differ only in a few names.

use protocol::Job;

use crate::rules::job_kind::of_kind;

// `statement_timestamp()` is constant within a statement, so the index on `due` can be used; it is also the database's
// clock.
pub(crate) struct JobStatements {
    /// `$1` id, `$2` fence, `$3` seconds. Returns whether a stop was requested, as `stop`. A job is due again when its
    /// lease has expired.
    pub(crate) renew: &'static str,
    /// `$1` id, `$2` fence.
    pub(crate) hand_back: &'static str,
    /// `$1` limit. Oldest first.
    pub(crate) find_due: &'static str,
    /// `$1` limit, `$2` seconds. Skips rows that another relay is taking, so each job is given to one relay.
    pub(crate) take_due: &'static str,
    /// `$1` ids, `$2` seconds. A job that was claimed or ended meanwhile has left the outbox and stays out. A row that
    /// another transaction is changing is skipped: at worst it is pushed once more.
    pub(crate) pushed: &'static str,
    /// The number of due jobs as `waiting`, and the age of the oldest in seconds as `oldest`.
    pub(crate) lag: &'static str,
}

macro_rules! job_statements {
    (
        $table:literal, queued $queued:literal, running $running:literal, stop $stop:literal,
        order $order:literal, relayed $relayed:literal
    ) => {
        JobStatements {
            renew: concat!(
                "UPDATE ",
                $table,
                " SET lease_until = clock_timestamp() + $3 * interval '1 second',
                     due = clock_timestamp() + $3 * interval '1 second'
                 WHERE id = $1 AND fence = $2 AND status = '",
                $running,
                "' RETURNING ",
                $stop,
                " AS stop"
            ),
            hand_back: concat!(
                "UPDATE ",
                $table,
                " SET status = '",
                $queued,
                "', due = clock_timestamp(), lease_until = NULL, worker = NULL,
                     attempt = greatest(0, attempt - 1)
                 WHERE id = $1 AND fence = $2 AND status = '",
                $running,
                "' RETURNING id"
            ),
            find_due: concat!(
                "SELECT id FROM ",
                $table,
                " WHERE due <= statement_timestamp() ORDER BY due, ",
                $order,
                " LIMIT $1"
            ),
            take_due: concat!(
                "WITH found AS (
                     SELECT id, due, ",
                $order,
                " AS tie FROM ",
                $table,
                " WHERE due <= statement_timestamp() ORDER BY due, tie LIMIT $1
                     FOR UPDATE SKIP LOCKED),
                 taken AS (
                     UPDATE ",
                $table,
                " AS j SET due = clock_timestamp() + $2 * interval '1 second'
                     FROM found AS f WHERE j.id = f.id RETURNING j.id, f.due, f.tie)
                 SELECT id FROM taken ORDER BY due, tie"
            ),
            pushed: concat!(
                "WITH found AS (
                     SELECT id FROM ",
                $table,
                " WHERE id = ANY($1) AND due IS NOT NULL AND ",
                $relayed,
                " AND (status = '",
                $queued,
                "' OR status = '",
                $running,
                "' AND lease_until <= statement_timestamp())
                     FOR UPDATE SKIP LOCKED)
                 UPDATE ",
                $table,
                " AS j SET due = clock_timestamp() + $2 * interval '1 second'
                 FROM found AS f WHERE j.id = f.id"
            ),
            lag: concat!(
                "SELECT count(*) AS waiting,
                     coalesce(extract(epoch FROM clock_timestamp() - min(due)), 0)::float8 AS oldest
                 FROM ",
                $table,
                " WHERE due <= statement_timestamp()"
            ),
        }
    };
}

// A resting turn is due when its rest is over.
pub(crate) const TURN: JobStatements = job_statements!(
    "turn", queued "queued", running "running", stop "cancel_requested", order "accepted",
    relayed "(rests_until IS NULL OR rests_until <= statement_timestamp())"
);

pub(crate) const EXECUTION: JobStatements = job_statements!(
    "execution", queued "QUEUED", running "RUNNING", stop "stop_requested", order "number",
    relayed "true"
);

pub(crate) const fn statements(job: &Job) -> &'static JobStatements {
    of_kind(job, &TURN, &EXECUTION)
}
