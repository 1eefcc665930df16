//! The turn to regenerate.

use protocol::TurnId;

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
