//! Finds what a client's message id is already used for.

use futures::future::try_join3;
use ports::store::TurnOpened;
use protocol::follow_up::FollowUpState;
use protocol::{MessageId, SessionId};

use super::super::connection::PooledConnection;
use super::super::error::PostgresError;
use super::super::rows;
use super::super::rows::{follow_up_columns, of_turn, turn_columns};
use super::super::text_param::TextParam;

#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum MessageIdUse {
    /// The id is free.
    Free,
    /// Used by a follow-up that was returned to its sender. It may be reused after that follow-up is removed.
    Returned,
    Used(TurnOpened),
}

pub(in super::super) async fn find_message_id(
    db: &PooledConnection,
    session: &SessionId,
    client_id: &str,
    fingerprint: Option<&str>,
) -> Result<MessageIdUse, PostgresError> {
    let (session, client) = (TextParam(session.as_str()), TextParam(client_id));
    let (turn, follow_up, row) = try_join3(
        db.query_opt(
            concat!(
                "SELECT ",
                turn_columns!(),
                ", t.fingerprint FROM turn AS t",
                of_turn!(),
                "WHERE t.session_id = $1 AND t.client_id = $2"
            ),
            &[&session, &client],
        ),
        db.query_opt(
            concat!(
                "SELECT ",
                follow_up_columns!(),
                ", f.fingerprint FROM follow_up AS f WHERE f.session_id = $1 AND f.id = $2"
            ),
            &[&session, &client],
        ),
        db.query_opt(
            "SELECT id FROM message WHERE session_id = $1 AND id = $2",
            &[&session, &client],
        ),
    )
    .await?;
    let is_same = |row| -> Result<bool, PostgresError> {
        Ok(rows::get::<Option<String>>(row, "fingerprint")?.as_deref() == fingerprint)
    };
    if let Some(turn) = turn {
        let joined = is_same(&turn)?;
        let turn = Box::new(rows::turn(&turn)?);
        return Ok(MessageIdUse::Used(if joined {
            TurnOpened::Joined(turn)
        } else {
            TurnOpened::Reused
        }));
    }
    if let Some(found) = follow_up {
        let follow_up = Box::new(rows::follow_up(&found)?);
        return Ok(match follow_up.state {
            _ if !is_same(&found)? => MessageIdUse::Used(TurnOpened::Reused),
            FollowUpState::Pending | FollowUpState::Delivered => {
                MessageIdUse::Used(TurnOpened::FollowUp(follow_up))
            }
            FollowUpState::Returned | FollowUpState::Dropped => MessageIdUse::Returned,
        });
    }
    // The id of a row whose id no client chose cannot be used again.
    Ok(row.map_or(MessageIdUse::Free, |_| MessageIdUse::Used(TurnOpened::Reused)))
}

/// Removes the returned follow-up.
pub(in super::super) async fn delete_returned(
    db: &PooledConnection,
    session: &SessionId,
    id: &MessageId,
) -> Result<(), PostgresError> {
    let ids = (TextParam(session.as_str()), TextParam(id.as_str()));
    db.query("DELETE FROM follow_up WHERE session_id = $1 AND id = $2", &[&ids.0, &ids.1]).await?;
    Ok(())
}
