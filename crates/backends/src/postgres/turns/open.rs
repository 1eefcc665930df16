//! Accepting a message: its row, its turn, its log and its outbox entry, or none of them.

use futures::future::{try_join3, try_join4};
use ports::store::{FollowUpPushed, NewTurn, TurnKind, TurnOpened, WhenBusy};
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{MessageId, SessionId, TurnId};

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::messages::{self, Belongs};
use super::super::sessions::user;
use super::super::text::Text;
use super::super::{Postgres, follow_ups, rows};
use super::at::{self, At, Counters};
use super::insert::{Asked, STATEMENTS, insert};
use super::known::{Known, forget, known};
use super::parent::{self, Readiness};
use super::places::taken;
use super::{first_open, regenerate, slots};

pub(super) async fn open(store: Postgres, owner: Owner, new: NewTurn) -> Result<TurnOpened, Fault> {
    let db = Connection::begin(&store.pool).await?;
    let opened = accept(&db, &store, &owner, &new).await?;
    db.commit().await?;
    Ok(opened)
}

async fn accept(
    db: &Connection,
    store: &Postgres,
    owner: &Owner,
    new: &NewTurn,
) -> Result<TurnOpened, Fault> {
    let session = &new.session_id;
    let Some(slot) = slots::lock_for_new(db, session).await? else {
        return Ok(TurnOpened::NoSession);
    };
    // From here on nobody else opens, ends or removes a turn of this slot.
    let (found, taken, active) =
        try_join3(lock_session(db, owner, session), taken(db, &slot), first_open(db, session))
            .await?;
    let Some(counters) = found else { return Ok(TurnOpened::NoSession) };
    let at = At { store, slot: &slot, counters, taken, active: active.as_ref() };
    match &new.kind {
        TurnKind::Submit { message, client_id, fingerprint, when_busy } => {
            let asked = Asked { client_id: client_id.as_deref(), fingerprint: Some(fingerprint) };
            submit(db, at, new, message, asked, *when_busy).await
        }
        TurnKind::Regenerate { from } => regenerate::regenerate(db, at, new, from.as_ref()).await,
    }
}

/// `None` when there is no such session of this owner.
pub(in super::super) async fn lock_session(
    db: &Connection,
    owner: &Owner,
    session: &SessionId,
) -> Result<Option<Counters>, Fault> {
    let row = db
        .query_opt(
            "SELECT last_ordinal, last_sequence FROM session
             WHERE id = $1 AND (user_id IS NULL OR user_id = $2) FOR UPDATE",
            &[&Text(session.as_str()), &user(owner)],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Counters {
        last_ordinal: rows::get(&row, "last_ordinal")?,
        last_sequence: rows::get(&row, "last_sequence")?,
    }))
}

async fn submit(
    db: &Connection,
    at: At<'_>,
    new: &NewTurn,
    message: &NewMessage,
    asked: Asked<'_>,
    when_busy: WhenBusy,
) -> Result<TurnOpened, Fault> {
    let mut message = message.clone();
    let mut before = Known::No;
    if let Some(client_id) = asked.client_id {
        before = known(db, &new.session_id, client_id, asked.fingerprint).await?;
        message.id = MessageId::from(client_id);
    }
    if let Known::Yes(opened) = before {
        return Ok(opened);
    }
    if let Some(parent) = &new.parent {
        match parent::lock(db, parent).await? {
            Readiness::Ready => {}
            Readiness::Ended => return Ok(TurnOpened::ParentEnded),
            Readiness::FannedOut => return Ok(TurnOpened::TooManyChildren),
        }
    }
    if let (WhenBusy::FollowUp, Some(active)) = (when_busy, at.active)
        && !active.cancel_requested
    {
        let fingerprint = asked.fingerprint.unwrap_or_default();
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
    if before == Known::CameBack {
        forget(db, &new.session_id, &message.id).await?;
    }
    let turn = TurnId::fresh();
    let wall_us = at.store.wall_us();
    let to = Belongs { session: &new.session_id, turn: &turn, ordinal: at.ordinal(), wall_us };
    let sequence = at.last_sequence() + 1;
    // Sent at once, the commit behind them: should one of them fail, it commits nothing.
    db.prepare(&STATEMENTS).await?;
    db.prepare(&[at::COUNT, messages::INSERT]).await?;
    let (opened, (), (), ()) = try_join4(
        insert(db, at.row(&turn, new, asked)),
        at.count(db, new, sequence),
        messages::insert(db, to, sequence, &message, None),
        db.commit(),
    )
    .await?;
    Ok(TurnOpened::New(Box::new(opened)))
}
