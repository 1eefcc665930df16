//! Regenerates a response. Nothing is deleted: replaced rows stay in the database, marked with the turn that
//! superseded them.

use ports::store::{NewTurn, TurnOpened};
use protocol::{MessageId, SessionId, TurnId};

use super::by_id;
use super::insert::insert;
use super::position::TurnPosition;
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::{TextParam, optional};
use crate::rows::StoreRow;
use crate::rows::turns::{regenerate_target, regenerate_target_columns};
use crate::rules::regenerate_target::{
    RegenerateTarget, Superseded, is_repeated, reply_while_busy,
};

pub(crate) async fn regenerate(
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
    // The client's id moves with its message, and only one turn may have it.
    db.query(
        "UPDATE turn SET client_id = NULL, fingerprint = NULL WHERE id = $1",
        &[&TextParam(target.id.as_str())],
    )
    .await?;
    let turn = TurnId::fresh();
    let opened = insert(db, at.row(&turn, new, target.submission())).await?;
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
            concat!(
                "SELECT ",
                regenerate_target_columns!(),
                " FROM turn AS t WHERE t.session_id = $1 AND t.ordinal > 0
               AND NOT EXISTS (SELECT 1 FROM operation AS p WHERE p.turn_id = t.id)
               AND ($2::text IS NULL OR t.ordinal <= (
                   SELECT max(n.ordinal) FROM turn AS n
                   WHERE n.session_id = $1 AND (n.message_id = $2 OR n.id = (
                       SELECT turn_id FROM message WHERE session_id = $1 AND id = $2))))
             ORDER BY t.ordinal DESC LIMIT 1"
            ),
            &[&TextParam(session.as_str()), &optional(said.map(MessageId::as_str))],
        )
        .await?;
    row.as_ref().map(regenerate_target).transpose()
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
    let regenerates: Option<TurnId> = row.optional_id("regenerates")?;
    let repeated = is_repeated(regenerates.as_ref(), target, from);
    Ok(reply_while_busy(by_id(db, active).await?.filter(|_| repeated)))
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
