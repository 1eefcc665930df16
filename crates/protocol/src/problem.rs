//! What the API says when it cannot do what was asked. The codes are a contract: programs branch on
//! them, so they never change; the sentences are for people and may.

macro_rules! problem_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $status:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ProblemCode {
            $($(#[$doc])* $name,)*
        }

        impl ProblemCode {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

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
    Unauthenticated = "UNAUTHENTICATED", 401;
    AccessDenied = "ACCESS_DENIED", 403;
    RouteNotFound = "ROUTE_NOT_FOUND", 404;
    SessionNotFound = "SESSION_NOT_FOUND", 404;
    TaskNotFound = "TASK_NOT_FOUND", 404;
    OperationNotFound = "OPERATION_NOT_FOUND", 404;
    KeyNotFound = "API_KEY_NOT_FOUND", 404;
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// The message id was used before with another text.
    MessageIdReused = "MESSAGE_ID_REUSED", 409;
    SessionBusy = "SESSION_BUSY", 409;
    /// There is no turn that a follow-up could reach.
    NoActiveTurn = "NO_ACTIVE_TURN", 409;
    SessionClaimed = "SESSION_ALREADY_CLAIMED", 409;
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
    /// This user has as many turns under way as a user may have.
    TooManyTurns = "TOO_MANY_TURNS", 429;
    /// As many follow-ups wait for this turn as may wait.
    TooManyFollowUps = "TOO_MANY_FOLLOW_UPS", 429;
    Internal = "INTERNAL_ERROR", 500;
    NotImplemented = "NOT_IMPLEMENTED", 501;
    /// Completions from outside need a key that this server was not given.
    InternalKeyMissing = "INTERNAL_KEY_NOT_CONFIGURED", 503;
    Unavailable = "UNAVAILABLE", 503;
    ShuttingDown = "SHUTTING_DOWN", 503;
    StorageFull = "STORAGE_FULL", 507;
}
