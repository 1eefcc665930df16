//! Identifiers. Each kind is its own type, so that a turn id cannot be passed for a session id.
//! They are opaque text: new ones are UUIDv7, but nothing may depend on their order.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// A fresh id that no other process will make.
            pub fn fresh() -> Self {
                Self(uuid::Uuid::now_v7().to_string())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<String> for $name {
            fn from(value: String) -> Self {
                Self(value)
            }
        }

        impl From<&str> for $name {
            fn from(value: &str) -> Self {
                Self(value.to_owned())
            }
        }
    };
}

id!(
    /// A conversation.
    SessionId
);
id!(
    /// One user message and all that is done for it.
    TurnId
);
id!(
    /// One write of the journal, so that a repetition of it is recognised.
    RecordId
);
id!(
    /// Anything with a stream log: a turn (its turn id) or an operation.
    TaskId
);
id!(
    /// A row of the history, or the assistant message a turn streams.
    MessageId
);
id!(
    /// The person a session belongs to: the `sub` of a token.
    UserId
);
id!(
    /// A tool call, as the model named it.
    CallId
);
id!(
    /// One worker of one process, for one claim: `process/…`.
    WorkerId
);

impl WorkerId {
    /// A fresh name that says which process it belongs to.
    pub fn of(process: &str) -> Self {
        Self(format!("{process}/{}", Self::fresh()))
    }

    /// The process, as far as the name says it.
    pub fn process(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(process, _)| process)
    }
}

id!(
    /// A long-running tool call that outlives its step.
    OperationId
);
id!(
    /// A tool call that went on in the background: `bg-` and twelve hex digits.
    BackgroundId
);

id!(
    /// An agent: a graph of blocks, in any number of versions.
    GraphId
);
id!(
    /// A block of a graph, at its place.
    NodeId
);
id!(
    /// A kind of block; the same in every installation.
    BlockId
);
id!(
    /// One run of an agent.
    ExecutionId
);
id!(
    /// A user's own entry for an agent.
    LibraryAgentId
);
id!(
    /// A folder of a user's library.
    FolderId
);
id!(
    /// A published version of an agent.
    ListingVersionId
);
id!(
    /// What a person is asked to decide: the node run, or the call, that waits for it.
    ReviewId
);

impl TurnId {
    /// The name under which this turn's stream log is kept.
    pub fn task(&self) -> TaskId {
        TaskId(self.0.clone())
    }
}

impl TaskId {
    /// The turn that writes this log: an operation runs as a turn of its own.
    pub fn turn(&self) -> TurnId {
        TurnId(self.0.clone())
    }
}
