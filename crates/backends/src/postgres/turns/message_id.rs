//! Finds what a client's message id is already used for.

use futures::future::try_join3;
use protocol::{MessageId, SessionId};

use crate::postgres::connection::PooledConnection;
use crate::postgres::error::PostgresError;
use crate::postgres::text_param::TextParam;
use crate::rows::StoreRow;
use crate::rows::follow_ups::{follow_up, follow_up_columns};
use crate::rows::turns::{of_turn, turn, turn_columns};
use crate::rules::message_id_use::{MessageIdUse, used_by_follow_up, used_by_turn};

pub(crate) async fn find_message_id(
    db: &PooledConnection,
    session: &SessionId,
    client_id: &str,
    fingerprint: Option<&str>,
) -> Result<MessageIdUse, PostgresError> {
    let (session, client) = (TextParam(session.as_str()), TextParam(client_id));
    let (used_turn, used_follow_up, message) = try_join3(
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
    if let Some(row) = used_turn {
        return Ok(used_by_turn(turn(&row)?, row.optional_str("fingerprint")?, fingerprint));
    }
    if let Some(row) = used_follow_up {
        let stored = row.optional_str("fingerprint")?;
        return Ok(used_by_follow_up(follow_up(&row)?, stored, fingerprint));
    }
    // The id of a row whose id no client chose cannot be used again.
    Ok(if message.is_some() { MessageIdUse::Reused } else { MessageIdUse::Free })
}

/// Removes the returned follow-up.
pub(crate) async fn delete_returned(
    db: &PooledConnection,
    session: &SessionId,
    id: &MessageId,
) -> Result<(), PostgresError> {
    let ids = (TextParam(session.as_str()), TextParam(id.as_str()));
    db.query("DELETE FROM follow_up WHERE session_id = $1 AND id = $2", &[&ids.0, &ids.1]).await?;
    Ok(())
}
