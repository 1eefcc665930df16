//! Opens a turn: stores the message, the turn, its stream log and its outbox entry in one transaction.

use futures::future::{try_join3, try_join4};
use ports::store::{FollowUpPushed, NewTurn, TurnKind, TurnOpened, WhenBusy};
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{MessageId, SessionId, TurnId};

use super::insert::{STATEMENTS, insert};
use super::message_id::{delete_returned, find_message_id};
use super::permits::permit_usage;
use super::position::{self, SessionCounters, TurnPosition};
use super::{advisory_locks, first_open, parent, regenerate};
use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::sessions::user;
use crate::postgres::text_param::TextParam;
use crate::postgres::{PostgresStore, follow_ups, messages};
use crate::rows::StoreRow;
use crate::rows::messages::MessagePosition;
use crate::rules::message_id_use::MessageIdUse;
use crate::rules::submission_key::SubmissionKey;

pub(crate) async fn open(
    store: PostgresStore,
    owner: Owner,
    new: NewTurn,
) -> Result<TurnOpened, PostgresError> {
    let db = PooledConnection::begin(&store.pool).await?;
    let opened = accept(&db, &store, &owner, &new).await?;
    db.commit().await?;
    Ok(opened)
}

async fn accept(
    db: &PooledConnection,
    store: &PostgresStore,
    owner: &Owner,
    new: &NewTurn,
) -> Result<TurnOpened, PostgresError> {
    let session = &new.session_id;
    let Some(quota_key) = advisory_locks::lock_for_new(db, session).await? else {
        return Ok(TurnOpened::NoSession);
    };
    // Under this lock no other transaction opens, ends or removes a turn of this quota key.
    let (found, permit_usage, active) = try_join3(
        lock_session(db, owner, session),
        permit_usage(db, &quota_key),
        first_open(db, session),
    )
    .await?;
    let Some(counters) = found else { return Ok(TurnOpened::NoSession) };
    let at = TurnPosition {
        store,
        quota_key: &quota_key,
        counters,
        permit_usage,
        active: active.as_ref(),
    };
    match &new.kind {
        TurnKind::Submit { message, client_id, fingerprint, when_busy } => {
            let submission =
                SubmissionKey { client_id: client_id.as_deref(), fingerprint: Some(fingerprint) };
            submit(db, at, new, message, submission, *when_busy).await
        }
        TurnKind::Regenerate { from } => regenerate::regenerate(db, at, new, from.as_ref()).await,
    }
}

/// `None` when this owner has no such session.
pub(crate) async fn lock_session(
    db: &PooledConnection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Option<SessionCounters>, PostgresError> {
    let row = db
        .query_opt(
            "SELECT last_ordinal, last_sequence FROM session
             WHERE id = $1 AND (user_id IS NULL OR user_id = $2) FOR UPDATE",
            &[&TextParam(session.as_str()), &user(owner)],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(SessionCounters {
        last_ordinal: row.integer("last_ordinal")?,
        last_sequence: row.integer("last_sequence")?,
    }))
}

async fn submit(
    db: &PooledConnection,
    at: TurnPosition<'_>,
    new: &NewTurn,
    message: &NewMessage,
    submission: SubmissionKey<'_>,
    when_busy: WhenBusy,
) -> Result<TurnOpened, PostgresError> {
    let mut message = message.clone();
    let mut was_returned = false;
    if let Some(client_id) = submission.client_id {
        let found = find_message_id(db, &new.session_id, client_id, submission.fingerprint).await?;
        was_returned = found == MessageIdUse::Returned;
        if let Some(reply) = found.reply_to_submission() {
            return Ok(reply);
        }
        message.id = MessageId::from(client_id);
    }
    if let Some(parent_turn) = &new.parent
        && let Some(refused) = parent::refusal(db, parent_turn).await?
    {
        return Ok(refused);
    }
    if let (WhenBusy::FollowUp, Some(active)) = (when_busy, at.active)
        && !active.cancel_requested
    {
        let fingerprint = submission.fingerprint.unwrap_or_default();
        let wall_us = at.store.wall_us();
        return Ok(
            match follow_ups::add(db, &active.id, &new.session_id, &message, fingerprint, wall_us)
                .await?
            {
                FollowUpPushed::Waits { follow_up, .. } => TurnOpened::FollowUp(follow_up),
                _ => TurnOpened::TooManyFollowUps,
            },
        );
    }
    if !at.has_room() {
        return Ok(TurnOpened::TooMany);
    }
    if was_returned {
        delete_returned(db, &new.session_id, &message.id).await?;
    }
    let turn = TurnId::fresh();
    let wall_us = at.store.wall_us();
    let to =
        MessagePosition { session: &new.session_id, turn: &turn, ordinal: at.ordinal(), wall_us };
    let sequence = at.last_sequence() + 1;
    // Sent at once, with the commit behind them: if one of them fails, nothing is committed.
    db.prepare(&STATEMENTS).await?;
    db.prepare(&[position::COUNT, messages::INSERT]).await?;
    let (opened, (), (), ()) = try_join4(
        insert(db, at.row(&turn, new, submission)),
        at.count(db, new, sequence),
        messages::insert(db, to, sequence, &message, None),
        db.commit(),
    )
    .await?;
    Ok(TurnOpened::New(Box::new(opened)))
}
