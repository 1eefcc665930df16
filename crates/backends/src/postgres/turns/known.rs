//! What became of a client's id for a message before.

use futures::future::try_join3;
use ports::store::TurnOpened;
use protocol::follow_up::FollowUpState;
use protocol::{MessageId, SessionId};

use super::super::connection::Connection;
use super::super::fault::Fault;
use super::super::rows;
use super::super::rows::{follow_up_columns, of_turn, turn_columns};
use super::super::text::Text;

#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum Known {
    /// The id may be used.
    No,
    /// By a follow-up that came back to its sender. It may be used again, and whoever does forgets that one.
    CameBack,
    Yes(TurnOpened),
}

pub(in super::super) async fn known(
    db: &Connection,
    session: &SessionId,
    client_id: &str,
    fingerprint: Option<&str>,
) -> Result<Known, Fault> {
    let (session, client) = (Text(session.as_str()), Text(client_id));
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
    let is_same = |row| -> Result<bool, Fault> {
        Ok(rows::get::<Option<String>>(row, "fingerprint")?.as_deref() == fingerprint)
    };
    if let Some(turn) = turn {
        let joined = is_same(&turn)?;
        let turn = Box::new(rows::turn(&turn)?);
        return Ok(Known::Yes(if joined { TurnOpened::Joined(turn) } else { TurnOpened::Reused }));
    }
    if let Some(found) = follow_up {
        let follow_up = Box::new(rows::follow_up(&found)?);
        return Ok(match follow_up.state {
            _ if !is_same(&found)? => Known::Yes(TurnOpened::Reused),
            FollowUpState::Pending | FollowUpState::Delivered => {
                Known::Yes(TurnOpened::FollowUp(follow_up))
            }
            FollowUpState::Returned | FollowUpState::Dropped => Known::CameBack,
        });
    }
    // The id of a row that no client named cannot be given to another.
    Ok(row.map_or(Known::No, |_| Known::Yes(TurnOpened::Reused)))
}

/// Forgets the follow-up that came back.
pub(in super::super) async fn forget(
    db: &Connection,
    session: &SessionId,
    id: &MessageId,
) -> Result<(), Fault> {
    let ids = (Text(session.as_str()), Text(id.as_str()));
    db.query("DELETE FROM follow_up WHERE session_id = $1 AND id = $2", &[&ids.0, &ids.1]).await?;
    Ok(())
}
