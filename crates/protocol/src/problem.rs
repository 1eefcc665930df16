//! The error codes of the API. They are a contract: programs branch on them, so they never change. The messages are for
//! people and may change.

use crate::text_enum::text_enum;

macro_rules! problem_codes {
    ($($(#[$doc:meta])* $name:ident = $code:tt, $status:literal;)*) => {
        text_enum! {
            #[derive(Hash)]
            pub enum ProblemCode {
                $($(#[$doc])* $name = $code,)*
            }
        }

        impl ProblemCode {
            pub fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }
        }
    };
}

problem_codes! {
    InvalidJson = "INVALID_JSON", 400;
    TooDeep = "JSON_TOO_DEEP", 400;
    BadRequest = "BAD_REQUEST", 400;
    /// The graph of an agent is invalid; `errors` and `node_errors` explain why.
    InvalidGraph = "INVALID_GRAPH", 400;
    /// The inputs of an agent are invalid; `inputs` explains why.
    InvalidInputs = "INVALID_INPUTS", 400;
    /// Nodes of an agent to be published contain secrets; `node_ids` names them.
    SecretsInAgent = "SECRETS_IN_AGENT", 400;
    Unauthenticated = "UNAUTHENTICATED", 401;
    NoFunds = "NO_FUNDS", 402;
    AccessDenied = "ACCESS_DENIED", 403;
    BlockNotAllowed = "BLOCK_NOT_ALLOWED", 403;
    /// The block can only be used inside a graph.
    GraphOnlyBlock = "GRAPH_ONLY_BLOCK", 403;
    RouteNotFound = "ROUTE_NOT_FOUND", 404;
    SessionNotFound = "SESSION_NOT_FOUND", 404;
    TaskNotFound = "TASK_NOT_FOUND", 404;
    OperationNotFound = "OPERATION_NOT_FOUND", 404;
    KeyNotFound = "API_KEY_NOT_FOUND", 404;
    GraphNotFound = "GRAPH_NOT_FOUND", 404;
    ExecutionNotFound = "EXECUTION_NOT_FOUND", 404;
    BlockNotFound = "BLOCK_NOT_FOUND", 404;
    AgentNotFound = "LIBRARY_AGENT_NOT_FOUND", 404;
    FolderNotFound = "FOLDER_NOT_FOUND", 404;
    ListingNotFound = "STORE_AGENT_NOT_FOUND", 404;
    ReviewNotFound = "REVIEW_NOT_FOUND", 404;
    FileNotFound = "FILE_NOT_FOUND", 404;
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// The message id was already used with another text.
    MessageIdReused = "MESSAGE_ID_REUSED", 409;
    SessionBusy = "SESSION_BUSY", 409;
    /// There is no running turn for a follow-up.
    NoActiveTurn = "NO_ACTIVE_TURN", 409;
    SessionClaimed = "SESSION_ALREADY_CLAIMED", 409;
    /// The graph is in the marketplace and cannot be deleted.
    GraphListed = "GRAPH_LISTED", 409;
    LibraryFull = "LIBRARY_FULL", 409;
    /// The agent was changed since the version that was edited; `newest_version` and `diff` say how.
    StaleVersion = "STALE_VERSION", 409;
    FolderNameTaken = "FOLDER_NAME_TAKEN", 409;
    FolderInsideItself = "FOLDER_INSIDE_ITSELF", 409;
    TooManyFolders = "TOO_MANY_FOLDERS", 409;
    /// Another user publishes under this name.
    StoreNameTaken = "STORE_NAME_TAKEN", 409;
    StoreFull = "STORE_FULL", 409;
    /// The execution has not ended.
    ExecutionOpen = "EXECUTION_OPEN", 409;
    /// The execution has ended.
    ExecutionEnded = "EXECUTION_ENDED", 409;
    /// Approval is required first; `review_id` names the review.
    ReviewRequired = "REVIEW_REQUIRED", 409;
    ReviewDecided = "REVIEW_ALREADY_DECIDED", 409;
    ReviewsMixed = "REVIEWS_OF_DIFFERENT_RUNS", 409;
    /// The block was started before and must not be repeated.
    BlockInterrupted = "BLOCK_INTERRUPTED", 409;
    TaskExpired = "TASK_EXPIRED", 410;
    BodyTooLarge = "BODY_TOO_LARGE", 413;
    UriTooLong = "URI_TOO_LONG", 414;
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415;
    Invalid = "VALIDATION_ERROR", 422;
    MessageEmpty = "MESSAGE_EMPTY", 422;
    MessageTooLong = "MESSAGE_TOO_LONG", 422;
    TooManyFiles = "TOO_MANY_FILES", 422;
    UnsupportedPart = "UNSUPPORTED_MESSAGE_PART", 422;
    NothingToRegenerate = "NOTHING_TO_REGENERATE", 422;
    HeadersTooLarge = "HEADERS_TOO_LARGE", 431;
    TooManyStreams = "TOO_MANY_STREAMS", 429;
    /// The user has too many open turns.
    TooManyTurns = "TOO_MANY_TURNS", 429;
    TooManyRuns = "TOO_MANY_RUNS", 429;
    /// Too many follow-ups wait for this turn.
    TooManyFollowUps = "TOO_MANY_FOLLOW_UPS", 429;
    Internal = "INTERNAL_ERROR", 500;
    NotImplemented = "NOT_IMPLEMENTED", 501;
    /// This server does not take payments.
    TopUpUnavailable = "TOP_UP_UNAVAILABLE", 501;
    /// No internal key is configured on this server.
    InternalKeyMissing = "INTERNAL_KEY_NOT_CONFIGURED", 503;
    Unavailable = "UNAVAILABLE", 503;
    ShuttingDown = "SHUTTING_DOWN", 503;
    BlockTimedOut = "BLOCK_TIMED_OUT", 504;
    StorageFull = "STORAGE_FULL", 507;
}
