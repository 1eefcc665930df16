//! The turn to regenerate.

use ports::store::TurnOpened;
use protocol::turn::Turn;
use protocol::{MessageId, TurnId};

use super::submission_key::SubmissionKey;

pub(crate) struct RegenerateTarget {
    pub(crate) id: TurnId,
    pub(crate) ordinal: i64,
    pub(crate) superseded: Superseded,
    pub(crate) client_id: Option<String>,
    pub(crate) fingerprint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Superseded {
    Yes,
    No,
}

impl RegenerateTarget {
    /// The client's id moves with its message.
    pub(crate) fn submission(&self) -> SubmissionKey<'_> {
        SubmissionKey {
            client_id: self.client_id.as_deref(),
            fingerprint: self.fingerprint.as_deref(),
        }
    }
}

/// Whether a request repeats the one that started the active turn. `regenerates` is the turn that the active one
/// replaces, if any.
pub(crate) fn is_repeated(
    regenerates: Option<&TurnId>,
    target: Option<&RegenerateTarget>,
    from: Option<&MessageId>,
) -> bool {
    match (regenerates, from) {
        (None, _) => false,
        // Without an id, the active turn regenerates the last one.
        (Some(_), None) => true,
        (Some(regenerated), Some(_)) => target.is_some_and(|target| target.id == *regenerated),
    }
}

/// A repeated request joins the active turn; any other request is refused while a turn runs.
pub(crate) fn reply_while_busy(joined: Option<Turn>) -> TurnOpened {
    joined.map_or(TurnOpened::Busy, |turn| TurnOpened::Joined(Box::new(turn)))
}
