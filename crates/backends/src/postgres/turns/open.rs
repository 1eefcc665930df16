//! Accepting a message: its row, its turn, its log and its outbox entry, or none of them.

use futures::future::{try_join, try_join3};
use ports::store::{NewTurn, Opened, TurnKind};
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::{MessageId, SessionId, TurnId};

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::messages::{self, Belongs};
use super::super::rows::turn_columns;
use super::super::sessions::user;
use super::super::text::Text;
use super::super::{Postgres, rows};
use super::insert::{Asked, At, Counters, STATEMENTS, insert};
use super::places::taken;
use super::{first_open, regenerate, slots};

pub(super) async fn open(store: Postgres, owner: Owner, new: NewTurn) -> Result<Opened, Fault> {
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
) -> Result<Opened, Fault> {
    let session = &new.session_id;
    let Some(slot) = slots::lock_for_new(db, session).await? else { return Ok(Opened::NoSession) };
    // From here on nobody else opens, ends or removes a turn of this slot.
    let (found, taken, active) =
        try_join3(lock_session(db, owner, session), taken(db, &slot), first_open(db, session))
            .await?;
    let Some(counters) = found else { return Ok(Opened::NoSession) };
    let at = At { store, slot: &slot, counters, taken, active: active.as_ref() };
    match &new.kind {
        TurnKind::Submit { message, client_id, fingerprint } => {
            let asked = Asked { client_id: client_id.as_deref(), fingerprint: Some(fingerprint) };
            submit(db, at, new, message, asked).await
        }
        TurnKind::Regenerate { from } => regenerate::regenerate(db, at, new, from.as_ref()).await,
    }
}

async fn lock_session(
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
) -> Result<Opened, Fault> {
    let mut message = message.clone();
    if let Some(client_id) = asked.client_id {
        if let Some(known) = known(db, &new.session_id, client_id, asked).await? {
            return Ok(known);
        }
        message.id = MessageId::from(client_id);
    }
    if !at.has_room() {
        return Ok(Opened::TooMany);
    }
    let turn = TurnId::fresh();
    let wall_us = at.store.wall_us();
    let to = Belongs { session: &new.session_id, turn: &turn, ordinal: at.ordinal(), wall_us };
    let sequence = at.last_sequence() + 1;
    // Sent at once, the commit behind them: should one of them fail, it commits nothing.
    db.prepare(&STATEMENTS).await?;
    db.prepare(&[messages::INSERT]).await?;
    let (opened, (), ()) = try_join3(
        insert(db, at, &turn, new, asked, sequence),
        messages::insert(db, to, sequence, &message, None),
        db.commit(),
    )
    .await?;
    Ok(Opened::New(Box::new(opened)))
}

/// What became of this client id before, if anything.
async fn known(
    db: &Connection,
    session: &SessionId,
    client_id: &str,
    asked: Asked<'_>,
) -> Result<Option<Opened>, Fault> {
    let (session, client) = (Text(session.as_str()), Text(client_id));
    let (turn, row) = try_join(
        db.query_opt(
            concat!(
                "SELECT ",
                turn_columns!(),
                ", t.fingerprint FROM turn AS t JOIN session AS s ON s.id = t.session_id
                 WHERE t.session_id = $1 AND t.client_id = $2"
            ),
            &[&session, &client],
        ),
        db.query_opt(
            "SELECT id FROM message WHERE session_id = $1 AND id = $2",
            &[&session, &client],
        ),
    )
    .await?;
    if let Some(turn) = turn {
        let fingerprint: Option<String> = rows::get(&turn, "fingerprint")?;
        return Ok(Some(if fingerprint.as_deref() == asked.fingerprint {
            Opened::Joined(Box::new(rows::turn(&turn)?))
        } else {
            Opened::Reused
        }));
    }
    // The id of a row that no client named cannot be given to another.
    Ok(row.map(|_| Opened::Reused))
}
