//! Follow-ups: messages sent while a turn runs. Adding, draining and settling them requires the session's row lock.

use async_trait::async_trait;
use futures::future::{try_join, try_join_all};
use ports::store::{FollowUpPushed, FollowUps, NewFollowUp};
use ports::{Fenced, PortResult};
use protocol::follow_up::FollowUp;
use protocol::limits;
use protocol::message::NewMessage;
use protocol::session::Owner;
use protocol::turn::TurnClaim;
use protocol::{MessageId, SessionId, TurnId};

use super::connection::PooledConnection;
use super::error::PostgresError;
use super::text_param::{TextParam, optional};
use super::turns::{claimed_rows, first_open, message_id, open};
use super::{PostgresStore, messages, sessions};
use crate::rows::StoreRow;
use crate::rows::follow_ups::{delivered_message, follow_up, follow_up_columns};

#[async_trait]
impl FollowUps for PostgresStore {
    async fn push(
        &self,
        owner: &Owner,
        session: &SessionId,
        new: NewFollowUp,
    ) -> PortResult<FollowUpPushed> {
        let (store, owner, session) = (self.clone(), owner.clone(), session.clone());
        self.write(async move {
            let db = PooledConnection::begin(&store.pool).await?;
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
                    &[&TextParam(session.as_str()), &i64::from(limit)],
                )
                .await?;
            found.iter().rev().map(follow_up).collect::<Result<_, _>>().map(Some)
        })
        .await
    }

    async fn drain(&self, claim: &TurnClaim, step: u32) -> PortResult<Fenced<Vec<FollowUp>>> {
        let (store, claim) = (self.clone(), claim.clone());
        self.write(async move {
            let db = PooledConnection::begin(&store.pool).await?;
            let drained = drain(&db, store.wall_us(), &claim, step).await?;
            db.commit().await?;
            Ok(drained)
        })
        .await
    }
}

async fn push(
    db: &PooledConnection,
    store: &PostgresStore,
    owner: &Owner,
    session: &SessionId,
    new: NewFollowUp,
) -> Result<FollowUpPushed, PostgresError> {
    let mut message = new.message;
    if open::lock_session(db, owner, session).await?.is_none() {
        return Ok(FollowUpPushed::NoSession);
    }
    if let Some(client_id) = new.client_id {
        let found =
            message_id::find_message_id(db, session, &client_id, Some(&new.fingerprint)).await?;
        if let Some(reply) = found.reply_to_follow_up() {
            return Ok(reply);
        }
        message.id = MessageId::from(client_id);
    }
    let active = first_open(db, session).await?;
    let Some(active) = active.filter(|active| !active.cancel_requested) else {
        return Ok(FollowUpPushed::NoTurn);
    };
    add(db, &active.id, session, &message, &new.fingerprint, store.wall_us()).await
}

/// Adds a follow-up to the turn, or returns `Full`. The id must be free, or that of a returned follow-up, which this
/// one replaces.
pub(crate) async fn add(
    db: &PooledConnection,
    turn: &TurnId,
    session: &SessionId,
    message: &NewMessage,
    fingerprint: &str,
    wall_us: i64,
) -> Result<FollowUpPushed, PostgresError> {
    let row = db
        .query_one(
            "SELECT count(*) AS waiting FROM follow_up WHERE turn_id = $1 AND state = 'pending'",
            &[&TextParam(turn.as_str())],
        )
        .await?;
    let waiting = row.small("waiting")?;
    if waiting >= limits::FOLLOW_UPS {
        return Ok(FollowUpPushed::Full);
    }
    message_id::delete_returned(db, session, &message.id).await?;
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
                &TextParam(session.as_str()),
                &TextParam(turn.as_str()),
                &TextParam(message.id.as_str()),
                &TextParam(&message.content),
                &optional(metadata.as_deref()),
                &TextParam(fingerprint),
                &wall_us,
            ],
        )
        .await?;
    Ok(FollowUpPushed::Waits { follow_up: Box::new(follow_up(&row)?), waiting: waiting + 1 })
}

async fn drain(
    db: &PooledConnection,
    wall_us: i64,
    claim: &TurnClaim,
    step: u32,
) -> Result<Fenced<Vec<FollowUp>>, PostgresError> {
    let Some(claimed) = claimed_rows::lock(db, claim).await? else { return Ok(Fenced::Stale) };
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
            &[&TextParam(claim.turn_id.as_str()), &(step as i32)],
        )
        .await?;
    if found.is_empty() {
        return Ok(Fenced::Done(Vec::new()));
    }
    let delivered = found.iter().map(delivered_message).collect::<Result<Vec<_>, _>>()?;
    let (drained, messages): (Vec<_>, Vec<_>) = delivered.into_iter().unzip();
    let to = claimed.message_position(claim, wall_us);
    let inserts = (claimed.last_sequence + 1..)
        .zip(&messages)
        .map(|(sequence, message)| messages::insert(db, to, sequence, message, None));
    let last = claimed.last_sequence + messages.len() as i64;
    let count = "UPDATE session SET last_sequence = $2 WHERE id = $1";
    try_join(
        try_join_all(inserts),
        db.query(count, &[&TextParam(claim.session_id.as_str()), &last]),
    )
    .await?;
    Ok(Fenced::Done(drained))
}
