//! Ordinal, quota key and counters of a turn being opened, read under the session lock.

use ports::store::NewTurn;
use protocol::TurnId;

use super::super::PostgresStore;
use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::text_param::TextParam;
use super::insert::TurnInsert;
use crate::permit_usage::PermitUsage;
use crate::submission_key::SubmissionKey;

#[derive(Clone, Copy)]
pub(super) struct TurnPosition<'a> {
    pub(super) store: &'a PostgresStore,
    pub(super) quota_key: &'a str,
    pub(super) counters: SessionCounters,
    pub(super) permit_usage: PermitUsage,
    pub(super) active: Option<&'a ActiveTurn>,
}

#[derive(Clone, Copy)]
pub(in super::super) struct SessionCounters {
    pub(in super::super) last_ordinal: i64,
    pub(in super::super) last_sequence: i64,
}

/// The first turn of the session that has not ended.
#[derive(Clone, Debug)]
pub(in super::super) struct ActiveTurn {
    pub(in super::super) id: TurnId,
    pub(in super::super) cancel_requested: bool,
}

impl TurnPosition<'_> {
    pub(super) fn has_room(&self) -> bool {
        self.permit_usage.in_flight < u64::from(self.store.caps.in_flight)
    }

    pub(super) fn ordinal(&self) -> i64 {
        self.counters.last_ordinal + 1
    }

    pub(super) fn last_sequence(&self) -> i64 {
        self.counters.last_sequence
    }

    /// The row of the new turn, at the end of its session.
    pub(super) fn row<'n>(
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
    pub(super) async fn count(
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

pub(super) const COUNT: &str =
    "UPDATE session SET last_ordinal = $2, last_sequence = $3, updated_at = $4 WHERE id = $1";
