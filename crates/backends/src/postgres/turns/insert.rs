//! A new turn at the end of its session.

use futures::future::try_join3;
use ports::store::NewTurn;
use protocol::TurnId;
use protocol::turn::Turn;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::leases::seconds;
use super::super::rows::turn_columns;
use super::super::text::{Text, optional};
use super::super::{Postgres, rows};
use super::places::Taken;

/// What is known, under lock, of where the new turn comes to stand.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) store: &'a Postgres,
    pub(super) slot: &'a str,
    pub(super) counters: Counters,
    pub(super) taken: Taken,
    /// The first turn of the session that has not ended.
    pub(super) active: Option<&'a TurnId>,
}

impl At<'_> {
    pub(super) fn has_room(&self) -> bool {
        self.taken.in_flight < u64::from(self.store.caps.in_flight)
    }

    pub(super) fn ordinal(&self) -> i64 {
        self.counters.last_ordinal + 1
    }

    pub(super) fn last_sequence(&self) -> i64 {
        self.counters.last_sequence
    }

    fn is_admitted(&self) -> bool {
        self.active.is_none() && self.taken.admitted < u64::from(self.store.caps.running)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Counters {
    pub(super) last_ordinal: i64,
    pub(super) last_sequence: i64,
}

/// How a submission is recognised when it comes again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked<'a> {
    pub(super) client_id: Option<&'a str>,
    pub(super) fingerprint: Option<&'a str>,
}

/// What `insert` sends, for who wants to send more behind it.
pub(super) const STATEMENTS: [&str; 3] = [COUNT_ON, INSERT, CREATE_LOG];

const COUNT_ON: &str =
    "UPDATE session SET last_ordinal = $2, last_sequence = $3, updated_at = $4 WHERE id = $1";
const CREATE_LOG: &str =
    "INSERT INTO log (task_id, fence, last_seq, sealed) VALUES ($1, 0, 0, false)";
// The message that a turn streams is named after it: the rows of an answer name their turn, so a client that has them
// recognises what a replay streams and does not show it twice.
const INSERT: &str = concat!(
    "WITH t AS (
         INSERT INTO turn (id, message_id, session_id, ordinal, slot, admitted, status, request,
             client_id, fingerprint, due, created_at)
         VALUES ($1, $1, $2, $3, $4, $5, 'queued', $6, $7, $8,
             CASE WHEN $5 THEN clock_timestamp() + $9 * interval '1 second' END, $10)
         RETURNING *)
     SELECT ",
    turn_columns!(),
    " FROM t JOIN session AS s ON s.id = t.session_id"
);

/// Adds a turn at the end of its session, with an empty log. It is due, after the grace its opener asked for, if it may
/// run; else the end of another one makes it due.
pub(super) async fn insert(
    db: &Connection,
    at: At<'_>,
    turn: &TurnId,
    new: &NewTurn,
    asked: Asked<'_>,
    last_sequence: i64,
) -> Result<Turn, Fault> {
    let request =
        serde_json::to_string(&new.request).map_err(|error| Fault::broken(error.to_string()))?;
    let (id, session, now) =
        (Text(turn.as_str()), Text(new.session_id.as_str()), at.store.wall_us());
    let (_, row, _) = try_join3(
        db.query(COUNT_ON, &[&session, &at.ordinal(), &last_sequence, &now]),
        db.query_one(
            INSERT,
            &[
                &id,
                &session,
                &at.ordinal(),
                &Text(at.slot),
                &at.is_admitted(),
                &Text(&request),
                &optional(asked.client_id),
                &optional(asked.fingerprint),
                &seconds(new.push_grace),
                &now,
            ],
        ),
        db.query(CREATE_LOG, &[&id]),
    )
    .await?;
    rows::turn(&row)
}
