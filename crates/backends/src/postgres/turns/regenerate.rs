//! Regenerates a response. Nothing is deleted: replaced rows stay in the database, marked with the turn that
//! superseded them.

use ports::store::{NewTurn, TurnOpened};
use protocol::{MessageId, SessionId, TurnId};

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::rows;
use super::super::text_param::{TextParam, optional};
use super::by_id;
use super::insert::insert;
use super::position::TurnPosition;
use crate::regenerate_target::{RegenerateTarget, Superseded};
use crate::submission_key::SubmissionKey;

pub(super) async fn regenerate(
    db: &PooledConnection,
    at: TurnPosition<'_>,
    new: &NewTurn,
    from: Option<&MessageId>,
) -> Result<TurnOpened, PostgresError> {
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
    let submission = SubmissionKey {
        client_id: target.client_id.as_deref(),
        fingerprint: target.fingerprint.as_deref(),
    };
    // The client's id moves with its message, and only one turn may have it.
    db.query(
        "UPDATE turn SET client_id = NULL, fingerprint = NULL WHERE id = $1",
        &[&TextParam(target.id.as_str())],
    )
    .await?;
    let turn = TurnId::fresh();
    let opened = insert(db, at.row(&turn, new, submission)).await?;
    at.count(db, new, at.last_sequence()).await?;
    replace(db, session, &target, &turn, at.ordinal()).await?;
    Ok(TurnOpened::New(Box::new(opened)))
}

/// Whether an operation of the session is open: its result would otherwise be written to a changed history.
async fn has_operations(db: &PooledConnection, session: &SessionId) -> Result<bool, PostgresError> {
    let open = db
        .query_opt(
            "SELECT id FROM turn WHERE session_id = $1 AND status IN ('queued', 'running') LIMIT 1",
            &[&TextParam(session.as_str())],
        )
        .await?;
    Ok(open.is_some())
}

/// The turn that streams under this id, or that owns a row with this id; without an id the last one. A turn that
/// continued after an operation responds to no message, so the last one before it that does is used instead.
async fn find(
    db: &PooledConnection,
    session: &SessionId,
    said: Option<&MessageId>,
) -> Result<Option<RegenerateTarget>, PostgresError> {
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
            &[&TextParam(session.as_str()), &optional(said.map(MessageId::as_str))],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(RegenerateTarget {
        id: rows::id(&row, "id")?,
        ordinal: rows::get(&row, "ordinal")?,
        superseded: if rows::get(&row, "superseded")? { Superseded::Yes } else { Superseded::No },
        client_id: rows::get(&row, "client_id")?,
        fingerprint: rows::get(&row, "fingerprint")?,
    }))
}

/// A repeated request joins the turn that already regenerates; any other request is refused while a turn runs.
async fn joined_or_busy(
    db: &PooledConnection,
    active: &TurnId,
    target: Option<&RegenerateTarget>,
    from: Option<&MessageId>,
) -> Result<TurnOpened, PostgresError> {
    let row = db
        .query_one("SELECT regenerates FROM turn WHERE id = $1", &[&TextParam(active.as_str())])
        .await?;
    let regenerates: Option<TurnId> = rows::optional_id(&row, "regenerates")?;
    let same = match (regenerates, from) {
        (None, _) => false,
        // Without an id, the active turn regenerates the last one.
        (Some(_), None) => true,
        (Some(regenerated), Some(_)) => target.is_some_and(|target| target.id == regenerated),
    };
    match by_id(db, active).await? {
        Some(turn) if same => Ok(TurnOpened::Joined(Box::new(turn))),
        _ => Ok(TurnOpened::Busy),
    }
}

/// Removes the old turn and all later ones from the history, except for the message to respond to again.
async fn replace(
    db: &PooledConnection,
    session: &SessionId,
    old: &RegenerateTarget,
    new: &TurnId,
    ordinal: i64,
) -> Result<(), PostgresError> {
    let (session, from, by) =
        (TextParam(session.as_str()), TextParam(old.id.as_str()), TextParam(new.as_str()));
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
