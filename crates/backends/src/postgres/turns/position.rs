//! Ordinal, quota key and counters of a turn being opened, read under the session lock.

use ports::store::NewTurn;
use protocol::TurnId;

use super::insert::TurnInsert;
use crate::postgres::PostgresStore;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rules::permit_usage::PermitUsage;
use crate::rules::submission_key::SubmissionKey;

#[derive(Clone, Copy)]
pub(crate) struct TurnPosition<'a> {
    pub(crate) store: &'a PostgresStore,
    pub(crate) quota_key: &'a str,
    pub(crate) counters: SessionCounters,
    pub(crate) permit_usage: PermitUsage,
    pub(crate) active: Option<&'a ActiveTurn>,
}

#[derive(Clone, Copy)]
pub(crate) struct SessionCounters {
    pub(crate) last_ordinal: i64,
    pub(crate) last_sequence: i64,
}

/// The first turn of the session that has not ended.
#[derive(Clone, Debug)]
pub(crate) struct ActiveTurn {
    pub(crate) id: TurnId,
    pub(crate) cancel_requested: bool,
}

impl TurnPosition<'_> {
    pub(crate) fn has_room(&self) -> bool {
        self.permit_usage.in_flight < u64::from(self.store.caps.in_flight)
    }

    pub(crate) fn ordinal(&self) -> i64 {
        self.counters.last_ordinal + 1
    }

    pub(crate) fn last_sequence(&self) -> i64 {
        self.counters.last_sequence
    }

    /// The row of the new turn, at the end of its session.
    pub(crate) fn row<'n>(
        &'n self,
        id: &'n TurnId,
        new: &'n NewTurn,
        submission: SubmissionKey<'n>,
    ) -> TurnInsert<'n> {
        TurnInsert {
            id,
            session: &new.session_id,
            ordinal: self.ordinal(),
            quota_key: self.quota_key,
            admitted: self.active.is_none() && self.permit_usage.has_free_permit(self.store.caps),
            request: &new.request,
            submission,
            parent: new.parent.as_ref().map(|parent| &parent.turn),
            cancel_requested: false,
            push_grace: new.push_grace,
            wall_us: self.store.wall_us(),
        }
    }

    /// Stores the counters after the new turn and the messages up to `last_sequence`.
    pub(crate) async fn count(
        &self,
        db: &PooledConnection,
        new: &NewTurn,
        last_sequence: i64,
    ) -> Result<(), PostgresError> {
        let session = TextParam(new.session_id.as_str());
        db.query(COUNT, &[&session, &self.ordinal(), &last_sequence, &self.store.wall_us()])
            .await?;
        Ok(())
    }
}

pub(crate) const COUNT: &str =
    "UPDATE session SET last_ordinal = $2, last_sequence = $3, updated_at = $4 WHERE id = $1";
