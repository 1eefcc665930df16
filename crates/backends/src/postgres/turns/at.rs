//! Where a turn that is about to be opened comes to stand, as it is known under lock.

use ports::store::NewTurn;
use protocol::TurnId;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::text::Text;
use super::insert::{Asked, NewRow};
use super::places::Taken;

#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) store: &'a Postgres,
    pub(super) slot: &'a str,
    pub(super) counters: Counters,
    pub(super) taken: Taken,
    pub(super) active: Option<&'a Active>,
}

#[derive(Clone, Copy)]
pub(in super::super) struct Counters {
    pub(in super::super) last_ordinal: i64,
    pub(in super::super) last_sequence: i64,
}

/// The first turn of the session that has not ended.
#[derive(Clone, Debug)]
pub(in super::super) struct Active {
    pub(in super::super) id: TurnId,
    pub(in super::super) cancel_requested: bool,
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

    /// The row of the new turn, at the end of its session.
    pub(super) fn row<'n>(
        &'n self,
        id: &'n TurnId,
        new: &'n NewTurn,
        asked: Asked<'n>,
    ) -> NewRow<'n> {
        NewRow {
            id,
            session: &new.session_id,
            ordinal: self.ordinal(),
            slot: self.slot,
            admitted: self.active.is_none() && self.taken.has_room(self.store.caps),
            request: &new.request,
            asked,
            parent: new.parent.as_ref().map(|parent| &parent.turn),
            cancel_requested: false,
            push_grace: new.push_grace,
            wall_us: self.store.wall_us(),
        }
    }

    /// Counts the new turn, and the messages up to `last_sequence`.
    pub(super) async fn count(
        &self,
        db: &Connection,
        new: &NewTurn,
        last_sequence: i64,
    ) -> Result<(), Fault> {
        let session = Text(new.session_id.as_str());
        db.query(COUNT, &[&session, &self.ordinal(), &last_sequence, &self.store.wall_us()])
            .await?;
        Ok(())
    }
}

pub(super) const COUNT: &str =
    "UPDATE session SET last_ordinal = $2, last_sequence = $3, updated_at = $4 WHERE id = $1";
