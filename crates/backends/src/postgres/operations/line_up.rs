//! Joining the order of the session, at its end, to go on with the conversation.

use ports::Fenced;
use protocol::turn::TurnClaim;

use super::super::Postgres;
use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::text::Text;
use super::super::turns::held::{self, Held};
use super::super::turns::places::admit_in;
use super::super::turns::{first_open, slots};

pub(super) async fn line_up(store: Postgres, claim: TurnClaim) -> Result<Fenced<bool>, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let lined_up = join(&db, &store, &claim).await?;
    db.commit().await?;
    Ok(lined_up)
}

async fn join(db: &Connection, store: &Postgres, claim: &TurnClaim) -> Result<Fenced<bool>, Fault> {
    let Some(slots) = slots::lock_of(db, &claim.turn_id).await? else { return Ok(Fenced::Stale) };
    let Some(held) = held::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    // One that is claimed in the order of its session is the first of it.
    if held.ordinal > 0 {
        return Ok(Fenced::Done(true));
    }
    check_ended(db, claim).await?;
    let before = first_open(db, &claim.session_id).await?;
    take_ordinal(db, claim, &held).await?;
    if before.is_none() {
        return Ok(Fenced::Done(true));
    }
    db.query(
        "UPDATE turn SET status = 'queued', worker = NULL, lease_until = NULL, due = NULL,
             attempt = greatest(0, attempt - 1), admitted = false, aside = 0 WHERE id = $1",
        &[&Text(claim.turn_id.as_str())],
    )
    .await?;
    admit_in(db, store.caps, &slots).await?;
    Ok(Fenced::Done(false))
}

async fn check_ended(db: &Connection, claim: &TurnClaim) -> Result<(), Fault> {
    let ended = db
        .query_opt(
            "SELECT id FROM operation WHERE turn_id = $1 AND state = 'ended'",
            &[&Text(claim.turn_id.as_str())],
        )
        .await?;
    match ended {
        Some(_) => Ok(()),
        None => Err(Fault::broken("only an operation that has its result can line up")),
    }
}

/// With the rows that it has written before.
async fn take_ordinal(db: &Connection, claim: &TurnClaim, held: &Held) -> Result<(), Fault> {
    let (session, turn) = (Text(claim.session_id.as_str()), Text(claim.turn_id.as_str()));
    let ordinal = held.last_ordinal + 1;
    db.query("UPDATE session SET last_ordinal = $2 WHERE id = $1", &[&session, &ordinal]).await?;
    db.query("UPDATE turn SET ordinal = $2 WHERE id = $1", &[&turn, &ordinal]).await?;
    db.query(
        "UPDATE message SET ordinal = $3 WHERE session_id = $1 AND turn_id = $2",
        &[&session, &turn, &ordinal],
    )
    .await?;
    Ok(())
}
