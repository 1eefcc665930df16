//! Giving a place to others without giving up the turn, and taking one again.

use ports::Fenced;
use protocol::TurnId;
use protocol::turn::TurnClaim;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::stream_log::count_fenced;
use super::super::text::Text;
use super::places::admit_in;
use super::slots;

pub(super) async fn step_aside(
    store: Postgres,
    claim: TurnClaim,
) -> Result<Fenced<Vec<TurnId>>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let due = give(&db, &store, &claim).await?;
    db.commit().await?;
    Ok(fenced(due))
}

pub(super) async fn step_back(store: Postgres, claim: TurnClaim) -> Result<Fenced<bool>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let taken = take(&db, &store, &claim).await?;
    db.commit().await?;
    Ok(fenced(taken))
}

fn fenced<T>(done: Option<T>) -> Fenced<T> {
    if done.is_none() {
        count_fenced();
    }
    done.map_or(Fenced::Stale, Fenced::Done)
}

async fn give(
    db: &Connection,
    store: &Postgres,
    claim: &TurnClaim,
) -> Result<Option<Vec<TurnId>>, Fault> {
    let Some(slots) = slots::lock_of(db, &claim.turn_id).await? else { return Ok(None) };
    let (turn, fence) = (Text(claim.turn_id.as_str()), claim.fence as i64);
    let stepped = db
        .query_opt(
            "UPDATE turn SET aside = 1 WHERE id = $1 AND fence = $2 AND status = 'running'
             RETURNING id",
            &[&turn, &fence],
        )
        .await?;
    match stepped {
        Some(_) => Ok(Some(admit_in(db, store.caps, &slots).await?)),
        None => Ok(None),
    }
}

async fn take(db: &Connection, store: &Postgres, claim: &TurnClaim) -> Result<Option<bool>, Fault> {
    let Some(slots) = slots::lock_of(db, &claim.turn_id).await? else { return Ok(None) };
    let (turn, fence) = (Text(claim.turn_id.as_str()), claim.fence as i64);
    // One that was claimed without a place is cancelled and needs none.
    let wants = db
        .query_opt(
            "UPDATE turn SET aside = CASE WHEN aside = 0 OR NOT admitted THEN 0 ELSE 2 END
             WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING aside <> 0 AS wants",
            &[&turn, &fence],
        )
        .await?;
    let Some(wants) = wants else { return Ok(None) };
    if !rows::get::<bool>(&wants, "wants")? {
        return Ok(Some(true));
    }
    admit_in(db, store.caps, &slots).await?;
    let row = db.query_one("SELECT aside = 0 AS back FROM turn WHERE id = $1", &[&turn]).await?;
    Ok(Some(rows::get(&row, "back")?))
}
