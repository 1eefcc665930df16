//! Identifiers. Each kind has its own type, so that a turn id cannot be used as a session id. They are opaque text: new
//! ones are UUIDv7, but nothing may depend on their order.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema, schemars::JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
   /// A new unique id.
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
    /// A session.
    SessionId
);
id!(
    /// One user message and everything done in response.
    TurnId
);
id!(
    /// One write of the journal, to detect repetitions.
    RecordId
);
id!(
    /// Anything with a stream log: a turn (its turn id) or an operation.
    TaskId
);
id!(
    /// A message of the history, or the assistant message that a turn streams.
    MessageId
);
id!(
    /// The user that a session belongs to: the `sub` of a token.
    UserId
);
id!(
    /// A tool call, as named by the model.
    CallId
);
id!(
    /// One worker of one process, for one claim: `process/…`.
    WorkerId
);

impl WorkerId {
    /// A new id with the name of its process.
    pub fn of(process: &str) -> Self {
        Self(format!("{process}/{}", Self::fresh()))
    }

    /// The name of the process.
    pub fn process(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(process, _)| process)
    }
}

id!(
    /// A long-running tool call that outlives its step.
    OperationId
);
id!(
    /// A background call: `bg-` and twelve hex digits.
    BackgroundId
);

id!(
    /// An agent: a graph of blocks, in any number of versions.
    GraphId
);
id!(
    /// A node of a graph.
    NodeId
);
id!(
    /// A type of block; the same in every installation.
    BlockId
);
id!(
    /// One execution of an agent.
    ExecutionId
);
id!(
    /// An agent in a user's library.
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
    /// A review: the node execution or the call that waits for a decision.
    ReviewId
);

impl TurnId {
    /// The id of this turn's stream log.
    pub fn task(&self) -> TaskId {
        TaskId(self.0.clone())
    }
}

impl TaskId {
    /// The turn that writes this log: an operation has a turn of its own.
    pub fn turn(&self) -> TurnId {
        TurnId(self.0.clone())
    }
}
