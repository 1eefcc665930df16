//! Messages that were sent while a turn was at work. Whoever adds, moves or settles one holds the row of the session.

use async_trait::async_trait;
use futures::future::{try_join, try_join_all};
use ports::store::{FollowUpPushed, FollowUps, NewFollowUp, TurnOpened};
use ports::{Fenced, PortResult};
use protocol::follow_up::FollowUp;
use protocol::limits;
use protocol::message::{MessageRole, NewMessage};
use protocol::session::Owner;
use protocol::turn::TurnClaim;
use protocol::{MessageId, SessionId, TurnId};

use super::connection::Connection;
use super::fault::Fault;
use super::messages::{self, Belongs};
use super::rows::follow_up_columns;
use super::text::{Text, optional};
use super::turns::known::{self, Known};
use super::turns::{first_open, held, open};
use super::{Postgres, rows, sessions};

#[async_trait]
impl FollowUps for Postgres {
    async fn push(
        &self,
        owner: &Owner,
        session: &SessionId,
        new: NewFollowUp,
    ) -> PortResult<FollowUpPushed> {
        let (store, owner, session) = (self.clone(), owner.clone(), session.clone());
        self.write(async move {
            let db = Connection::begin(&store.pool).await?;
            let pushed = push(&db, &store, &owner, &session, new).await?;
            db.commit().await?;
            Ok(pushed)
        })
        .await
    }

    async fn list(
        &self,
        owner: &Owner,
        session: &SessionId,
        limit: u32,
    ) -> PortResult<Option<Vec<FollowUp>>> {
        self.read(|db| async move {
            if sessions::find(&db, owner, session).await?.is_none() {
                return Ok(None);
            }
            let found = db
                .query(
                    concat!(
                        "SELECT ",
                        follow_up_columns!(),
                        " FROM follow_up AS f WHERE f.session_id = $1
                         ORDER BY f.number DESC LIMIT $2"
                    ),
                    &[&Text(session.as_str()), &i64::from(limit)],
                )
                .await?;
            found.iter().rev().map(rows::follow_up).collect::<Result<_, _>>().map(Some)
        })
        .await
    }

    async fn drain(&self, claim: &TurnClaim, step: u32) -> PortResult<Fenced<Vec<FollowUp>>> {
        let (store, claim) = (self.clone(), claim.clone());
        self.write(async move {
            let db = Connection::begin(&store.pool).await?;
            let drained = drain(&db, store.wall_us(), &claim, step).await?;
            db.commit().await?;
            Ok(drained)
        })
        .await
    }
}

async fn push(
    db: &Connection,
    store: &Postgres,
    owner: &Owner,
    session: &SessionId,
    new: NewFollowUp,
) -> Result<FollowUpPushed, Fault> {
    let mut message = new.message;
    if open::lock_session(db, owner, session).await?.is_none() {
        return Ok(FollowUpPushed::NoSession);
    }
    if let Some(client_id) = new.client_id {
        match known::known(db, session, &client_id, Some(&new.fingerprint)).await? {
            Known::No | Known::CameBack => {}
            Known::Yes(TurnOpened::FollowUp(follow_up)) => {
                return Ok(FollowUpPushed::Known(follow_up));
            }
            Known::Yes(_) => return Ok(FollowUpPushed::Reused),
        }
        message.id = MessageId::from(client_id);
    }
    let active = first_open(db, session).await?;
    let Some(active) = active.filter(|active| !active.cancel_requested) else {
        return Ok(FollowUpPushed::NoTurn);
    };
    add(db, &active.id, session, &message, &new.fingerprint, store.wall_us()).await
}

/// Adds one to those that wait for the turn, or says that it is `Full`. The id is known to be free, or that of one that
/// came back, which this one replaces.
pub(super) async fn add(
    db: &Connection,
    turn: &TurnId,
    session: &SessionId,
    message: &NewMessage,
    fingerprint: &str,
    wall_us: i64,
) -> Result<FollowUpPushed, Fault> {
    let row = db
        .query_one(
            "SELECT count(*) AS waiting FROM follow_up WHERE turn_id = $1 AND state = 'pending'",
            &[&Text(turn.as_str())],
        )
        .await?;
    let waiting = rows::number(&row, "waiting")? as u32;
    if waiting >= limits::FOLLOW_UPS {
        return Ok(FollowUpPushed::Full);
    }
    known::forget(db, session, &message.id).await?;
    let metadata = message.metadata.as_ref().map(ToString::to_string);
    let row = db
        .query_one(
            concat!(
                "WITH f AS (
                     INSERT INTO follow_up (session_id, turn_id, id, content, metadata, fingerprint,
                         state, created_at)
                     VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7) RETURNING *)
                 SELECT ",
                follow_up_columns!(),
                " FROM f"
            ),
            &[
                &Text(session.as_str()),
                &Text(turn.as_str()),
                &Text(message.id.as_str()),
                &Text(&message.content),
                &optional(metadata.as_deref()),
                &Text(fingerprint),
                &wall_us,
            ],
        )
        .await?;
    Ok(FollowUpPushed::Waits { follow_up: Box::new(rows::follow_up(&row)?), waiting: waiting + 1 })
}

async fn drain(
    db: &Connection,
    wall_us: i64,
    claim: &TurnClaim,
    step: u32,
) -> Result<Fenced<Vec<FollowUp>>, Fault> {
    let Some(held) = held::lock(db, claim).await? else { return Ok(Fenced::Stale) };
    let found = db
        .query(
            concat!(
                "WITH f AS (
                     UPDATE follow_up SET state = 'delivered', step = $2
                     WHERE turn_id = $1 AND state = 'pending' RETURNING *)
                 SELECT ",
                follow_up_columns!(),
                ", f.metadata FROM f ORDER BY f.number"
            ),
            &[&Text(claim.turn_id.as_str()), &(step as i32)],
        )
        .await?;
    if found.is_empty() {
        return Ok(Fenced::Done(Vec::new()));
    }
    let mut drained = Vec::new();
    let mut messages = Vec::new();
    for row in &found {
        let follow_up = rows::follow_up(row)?;
        let mut message = NewMessage::new(MessageRole::User, follow_up.text.clone());
        message.id = follow_up.id.clone();
        message.metadata = rows::optional_json(row, "metadata")?;
        messages.push(message);
        drained.push(follow_up);
    }
    let to = Belongs {
        session: &claim.session_id,
        turn: &claim.turn_id,
        ordinal: held.rows_ordinal(),
        wall_us,
    };
    let inserts = (held.last_sequence + 1..)
        .zip(&messages)
        .map(|(sequence, message)| messages::insert(db, to, sequence, message, None));
    let last = held.last_sequence + messages.len() as i64;
    let count = "UPDATE session SET last_sequence = $2 WHERE id = $1";
    try_join(try_join_all(inserts), db.query(count, &[&Text(claim.session_id.as_str()), &last]))
        .await?;
    Ok(Fenced::Done(drained))
}
