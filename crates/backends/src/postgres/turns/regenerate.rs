//! Answering an earlier message again. Nothing is removed: what leaves the history stays in the
//! database, marked with the turn that took its place.

use ports::store::{NewTurn, TurnOpened};
use protocol::{MessageId, SessionId, TurnId};

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::text::{Text, optional};
use super::at::At;
use super::by_id;
use super::insert::{Asked, insert};

pub(super) async fn regenerate(
    db: &Connection,
    at: At<'_>,
    new: &NewTurn,
    from: Option<&MessageId>,
) -> Result<TurnOpened, Fault> {
    let session = &new.session_id;
    let target = find(db, session, from).await?;
    if let Some(active) = at.active {
        return joined_or_busy(db, &active.id, target.as_ref(), from).await;
    }
    if has_operations(db, session).await? {
        return Ok(TurnOpened::Busy);
    }
    let Some(target) = target.filter(|target| target.superseded == Superseded::No) else {
        return Ok(TurnOpened::NothingToRegenerate);
    };
    if !at.has_room() {
        return Ok(TurnOpened::TooMany);
    }
    let asked = Asked {
        client_id: target.client_id.as_deref(),
        fingerprint: target.fingerprint.as_deref(),
    };
    // The client's id goes with its message, and only one turn may have it.
    db.query(
        "UPDATE turn SET client_id = NULL, fingerprint = NULL WHERE id = $1",
        &[&Text(target.id.as_str())],
    )
    .await?;
    let turn = TurnId::fresh();
    let opened = insert(db, at.row(&turn, new, asked)).await?;
    at.count(db, new, at.last_sequence()).await?;
    replace(db, session, &target, &turn, at.ordinal()).await?;
    Ok(TurnOpened::New(Box::new(opened)))
}

/// A turn that is to be answered again.
struct Target {
    id: TurnId,
    ordinal: i64,
    superseded: Superseded,
    client_id: Option<String>,
    fingerprint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Superseded {
    Yes,
    No,
}

/// Whether an operation of the session is at work: its result would come into a history that has moved on.
async fn has_operations(db: &Connection, session: &SessionId) -> Result<bool, Fault> {
    let open = db
        .query_opt(
            "SELECT id FROM turn WHERE session_id = $1 AND status IN ('queued', 'running') LIMIT 1",
            &[&Text(session.as_str())],
        )
        .await?;
    Ok(open.is_some())
}

/// The turn that streams under this id, or that a row with this id belongs to; without an id, the last one. Where that
/// went on after an operation it answers no message, so the last one before it that does is meant.
async fn find(
    db: &Connection,
    session: &SessionId,
    said: Option<&MessageId>,
) -> Result<Option<Target>, Fault> {
    let row = db
        .query_opt(
            "SELECT t.id, t.ordinal, t.superseded_by IS NOT NULL AS superseded, t.client_id,
                 t.fingerprint
             FROM turn AS t WHERE t.session_id = $1 AND t.ordinal > 0
               AND NOT EXISTS (SELECT 1 FROM operation AS p WHERE p.turn_id = t.id)
               AND ($2::text IS NULL OR t.ordinal <= (
                   SELECT max(n.ordinal) FROM turn AS n
                   WHERE n.session_id = $1 AND (n.message_id = $2 OR n.id = (
                       SELECT turn_id FROM message WHERE session_id = $1 AND id = $2))))
             ORDER BY t.ordinal DESC LIMIT 1",
            &[&Text(session.as_str()), &optional(said.map(MessageId::as_str))],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Target {
        id: rows::id(&row, "id")?,
        ordinal: rows::get(&row, "ordinal")?,
        superseded: if rows::get(&row, "superseded")? { Superseded::Yes } else { Superseded::No },
        client_id: rows::get(&row, "client_id")?,
        fingerprint: rows::get(&row, "fingerprint")?,
    }))
}

/// Asking twice for the same thing is one request; anything else has to wait for the turn at work.
async fn joined_or_busy(
    db: &Connection,
    active: &TurnId,
    target: Option<&Target>,
    from: Option<&MessageId>,
) -> Result<TurnOpened, Fault> {
    let row = db
        .query_one("SELECT regenerates FROM turn WHERE id = $1", &[&Text(active.as_str())])
        .await?;
    let regenerates: Option<TurnId> = rows::optional_id(&row, "regenerates")?;
    let same = match (regenerates, from) {
        (None, _) => false,
        // "The last one" is what the active turn is answering again.
        (Some(_), None) => true,
        (Some(regenerated), Some(_)) => target.is_some_and(|target| target.id == regenerated),
    };
    match by_id(db, active).await? {
        Some(turn) if same => Ok(TurnOpened::Joined(Box::new(turn))),
        _ => Ok(TurnOpened::Busy),
    }
}

/// Takes the old turn and all after it out of the history, except for the message to be answered anew.
async fn replace(
    db: &Connection,
    session: &SessionId,
    old: &Target,
    new: &TurnId,
    ordinal: i64,
) -> Result<(), Fault> {
    let (session, from, by) = (Text(session.as_str()), Text(old.id.as_str()), Text(new.as_str()));
    db.query("UPDATE turn SET regenerates = $2 WHERE id = $1", &[&by, &from]).await?;
    db.query(
        "UPDATE turn SET superseded_by = $3
         WHERE session_id = $1 AND ordinal >= $2 AND id <> $3 AND superseded_by IS NULL",
        &[&session, &old.ordinal, &by],
    )
    .await?;
    db.query(
        "UPDATE message SET turn_id = $3, ordinal = $4
         WHERE session_id = $1 AND turn_id = $2 AND role = 'user' AND superseded_by IS NULL",
        &[&session, &from, &by, &ordinal],
    )
    .await?;
    db.query(
        "UPDATE message SET superseded_by = $3
         WHERE session_id = $1 AND ordinal >= $2 AND turn_id <> $3 AND superseded_by IS NULL",
        &[&session, &old.ordinal, &by],
    )
    .await?;
    Ok(())
}
