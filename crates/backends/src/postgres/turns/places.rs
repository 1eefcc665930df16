//! Who may run: each slot has so many places. Those that stepped aside and want one back get it first, then the turns
//! that wait for one, both in the order they were accepted.

use deadpool_postgres::Pool;
use protocol::TurnId;
use protocol::limits::UserLimits;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::text::Text;
use super::slots;

/// Turns of a slot that are in flight, and how many of its places are in use.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Taken {
    pub(in super::super) in_flight: u64,
    places: u64,
}

impl Taken {
    pub(in super::super) fn has_room(&self, caps: UserLimits) -> bool {
        self.places < u64::from(caps.running)
    }
}

/// Exact for as long as the slot is locked.
pub(in super::super) async fn taken(db: &Connection, slot: &str) -> Result<Taken, Fault> {
    let row = db
        .query_one(
            "SELECT count(*) FILTER (WHERE ordinal > 0) AS in_flight,
                 count(*) FILTER (WHERE admitted AND aside = 0) AS places
             FROM turn WHERE slot = $1 AND status IN ('queued', 'running')",
            &[&Text(slot)],
        )
        .await?;
    Ok(Taken { in_flight: rows::number(&row, "in_flight")?, places: rows::number(&row, "places")? })
}

/// Of each session only the first open turn may run, and beside them what stands outside the order. What rests waits
/// for no place until it has rested enough.
const ADMIT: &str = "\
    WITH room AS (
        SELECT greatest(0, $2 - count(*)) AS places FROM turn
        WHERE slot = $1 AND admitted AND aside = 0 AND status IN ('queued', 'running')),
    back AS (
        UPDATE turn SET aside = 0 WHERE id IN (
            SELECT id FROM turn
            WHERE slot = $1 AND admitted AND aside = 2 AND status IN ('queued', 'running')
            ORDER BY accepted LIMIT (SELECT places FROM room))
        RETURNING id),
    next AS (
        SELECT t.id, t.accepted FROM turn AS t
        WHERE t.slot = $1 AND t.status = 'queued' AND NOT t.admitted
          AND (t.rests_until IS NULL OR t.rests_until <= clock_timestamp())
          AND NOT EXISTS (
            SELECT 1 FROM turn AS o WHERE o.session_id = t.session_id AND o.ordinal > 0
              AND o.ordinal < t.ordinal AND o.status IN ('queued', 'running'))
        ORDER BY t.accepted
        LIMIT (SELECT places FROM room) - (SELECT count(*) FROM back)),
    admitted AS (
        UPDATE turn AS t SET admitted = true, rests_until = NULL, due = clock_timestamp()
        FROM next AS n WHERE t.id = n.id RETURNING t.id, n.accepted)
    SELECT id FROM admitted ORDER BY accepted";

/// Gives out the free places of a locked slot, makes those due that begin because of it, and names them.
pub(in super::super) async fn admit(
    db: &Connection,
    caps: UserLimits,
    slot: &str,
) -> Result<Vec<TurnId>, Fault> {
    let found = db.query(ADMIT, &[&Text(slot), &i64::from(caps.running)]).await?;
    found.iter().map(|row| rows::id(row, "id")).collect()
}

pub(in super::super) async fn admit_in(
    db: &Connection,
    caps: UserLimits,
    slots: &[String],
) -> Result<Vec<TurnId>, Fault> {
    let mut due = Vec::new();
    for slot in slots {
        due.extend(admit(db, caps, slot).await?);
    }
    Ok(due)
}

/// The same for every slot in which something waits: places may have become free while nobody looked, or the caps may
/// have been raised.
pub(in super::super) async fn admit_all(pool: &Pool, caps: UserLimits) -> Result<(), Fault> {
    let db = Connection::get(pool).await?;
    let found = db
        .query(
            "SELECT DISTINCT slot FROM turn
             WHERE status IN ('queued', 'running')
               AND (status = 'queued' AND NOT admitted OR aside = 2)",
            &[],
        )
        .await?;
    drop(db);
    for row in &found {
        let slot: String = rows::get(row, "slot")?;
        let db = Connection::begin(pool).await?;
        slots::lock(&db, &slot).await?;
        admit(&db, caps, &slot).await?;
        db.commit().await?;
    }
    Ok(())
}
