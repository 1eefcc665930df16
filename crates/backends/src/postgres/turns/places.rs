//! Who may run: each slot has so many places, and the turns that wait for one get it in the order they were accepted.

use deadpool_postgres::Pool;
use protocol::TurnId;
use protocol::limits::Caps;

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::text::Text;
use super::slots;

/// Turns of a slot that have not ended, and those of them that have a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) in_flight: u64,
    pub(super) admitted: u64,
}

/// Exact for as long as the slot is locked.
pub(super) async fn taken(db: &Connection, slot: &str) -> Result<Taken, Fault> {
    let row = db
        .query_one(
            "SELECT count(*) AS in_flight, count(*) FILTER (WHERE admitted) AS admitted
             FROM turn WHERE slot = $1 AND status IN ('queued', 'running')",
            &[&Text(slot)],
        )
        .await?;
    Ok(Taken {
        in_flight: rows::number(&row, "in_flight")?,
        admitted: rows::number(&row, "admitted")?,
    })
}

/// Gives the free places of a locked slot to the turns that have waited longest, and makes these due. Of each session
/// only the first open turn may run.
pub(in super::super) async fn admit(
    db: &Connection,
    caps: Caps,
    slot: &str,
) -> Result<Vec<TurnId>, Fault> {
    let found = db
        .query(
            "WITH next AS (
                 SELECT t.id, t.accepted FROM turn AS t
                 WHERE t.slot = $1 AND t.status = 'queued' AND NOT t.admitted AND NOT EXISTS (
                     SELECT 1 FROM turn AS o WHERE o.session_id = t.session_id
                       AND o.ordinal < t.ordinal AND o.status IN ('queued', 'running'))
                 ORDER BY t.accepted
                 LIMIT greatest(0, $2 - (
                     SELECT count(*) FROM turn
                     WHERE slot = $1 AND admitted AND status IN ('queued', 'running')))),
             admitted AS (
                 UPDATE turn AS t SET admitted = true, due = clock_timestamp()
                 FROM next AS n WHERE t.id = n.id RETURNING t.id, n.accepted)
             SELECT id FROM admitted ORDER BY accepted",
            &[&Text(slot), &i64::from(caps.running)],
        )
        .await?;
    found.iter().map(|row| rows::id(row, "id")).collect()
}

/// The same for every slot in which something waits: places may have become free while nobody looked, or the caps may
/// have been raised.
pub(in super::super) async fn admit_all(pool: &Pool, caps: Caps) -> Result<(), Fault> {
    let db = Connection::get(pool).await?;
    let found = db
        .query(
            "SELECT DISTINCT slot FROM turn
             WHERE status IN ('queued', 'running') AND status = 'queued' AND NOT admitted",
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
