//! Turns: accepted, journaled, ended.

use std::time::Duration;

use async_trait::async_trait;
use protocol::follow_up::FollowUp;
use protocol::message::{Message, NewMessage, ToolOutcome};
use protocol::operation::{Operation, OperationResult};
use protocol::session::{Owner, Session};
use protocol::tool::ToolEffect;
use protocol::turn::{Turn, TurnClaim, TurnError, TurnRequest, TurnStatus};
use protocol::usage::Usage;
use protocol::{BackgroundId, CallId, MessageId, RecordId, Segment, SessionId, TurnId};

use super::Fenced;
use crate::error::PortResult;

/// Laws: a message and its turn are accepted together or not at all; one message id creates one turn
/// (`one_message_id_makes_one_turn`), with another text it is refused (`a_reused_message_id_is_refused`); message
/// sequences are dense (`sequences_are_dense_under_concurrency`); a stale claim changes nothing
/// (`a_stale_claim_changes_nothing`); a repeated record is written once (`a_repeated_record_is_written_once`); a turn
/// ends once, together with its last chunks (`a_turn_ends_once`); its end makes the next turn of the session due
/// (`the_end_of_a_turn_makes_the_next_one_due`). A user has at most `UserLimits::in_flight` open turns
/// (`in_flight_turns_are_limited_per_user`), and at most `UserLimits::running` of them are admitted, exactly, however
/// many are opened at once (`admitted_turns_never_exceed_the_limit`); the others wait in the order of acceptance and
/// are admitted as admitted ones end (`turns_over_the_limit_are_admitted_in_order`). A turn that steps aside releases
/// its concurrency permit to the next (`a_yielded_permit_goes_to_the_next_turn`) and gets one back before turns that
/// have not started (`turns_reacquiring_a_permit_come_before_new_turns`), without exceeding the limit
/// (`reacquiring_permits_never_exceeds_the_limit`); a claim does not change that
/// (`a_claim_does_not_reacquire_a_yielded_permit`). A turn started by a call needs a running parent
/// (`an_ended_or_cancelled_parent_starts_no_turn`), whose number of running children is limited
/// (`running_children_are_limited_by_the_fan_out`); a cancel reaches the whole tree
/// (`a_cancel_reaches_the_whole_tree`). Background calls are kept in the journal
/// (`a_background_call_stays_in_the_journal`, `only_a_journaled_call_can_run_in_the_background`) and end with their
/// turn (`open_background_calls_end_with_their_turn`).
///
/// A turn is *admitted* when it is the oldest open one of its session and its user has a free concurrency permit. Only an
/// admitted turn is due and can be claimed, so the queue never contains more turns of one user than may run, and newly
/// admitted turns go behind all waiting ones, which is fair between users. Anonymous sessions each have their own limit.
#[async_trait]
pub trait Turns: Send + Sync {
    /// One transaction: user message, turn row, outbox entry. On stable storage when it returns.
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened>;

    async fn get(&self, owner: &Owner, turn: &TurnId) -> PortResult<Option<Turn>>;

    /// The oldest turn of the session without a final status; otherwise the one that ended last, with the time since then by a
    /// monotonic clock (`None`: before this process started).
    async fn current(
        &self,
        owner: &Owner,
        session: &SessionId,
    ) -> PortResult<Option<(Turn, Option<Duration>)>>;

    /// Marks every turn of the session without a final status, including its operations, and every such turn started by them,
    /// directly or indirectly. Returns them all: those of the session first, oldest first, then level by level.
    async fn request_cancel(&self, owner: &Owner, session: &SessionId) -> PortResult<Vec<Turn>>;

    /// Everything an attempt starts from: the session, the history up to this turn in the order of the turns, and the journal
    /// of this turn.
    async fn progress(&self, claim: &TurnClaim) -> PortResult<Fenced<TurnProgress>>;

    /// Journals, all or nothing. Repeating the last record of a turn changes nothing and returns `Done`, so a caller that lost
    /// the response can repeat it.
    async fn record(&self, claim: &TurnClaim, record: JournalRecord) -> PortResult<Fenced<()>>;

    /// The only way a turn ends: status, last messages, usage, last chunks and the seal of its log in one transaction. Waiting
    /// follow-ups end with it (dropped by a cancel, returned by a failure), as do running background calls (`Cancelled`) and
    /// the operation that the turn carries out, if it has no result yet.
    async fn finish(
        &self,
        claim: &TurnClaim,
        ending: TurnEnding,
    ) -> PortResult<Fenced<TurnFinished>>;

    /// Releases the turn's concurrency permit but keeps its claim, and returns the turns that are due because of it. Repeating
    /// it changes nothing.
    async fn step_aside(&self, claim: &TurnClaim) -> PortResult<Fenced<Vec<TurnId>>>;

    /// Reacquires a concurrency permit: `false` means that none is free; the turn gets the next free one before any turn that
    /// has not started; ask again. A turn that is not aside has its permit: `true`.
    async fn step_back(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>>;

    /// The numbers of queued and running turns, for metrics.
    async fn count_open(&self) -> PortResult<OpenTurns>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenTurns {
    pub queued: u64,
    pub running: u64,
    /// How long the oldest queued one has waited, by the wall clock: for display, not for decisions.
    pub oldest_queued: Duration,
}

#[derive(Clone, Debug)]
pub struct NewTurn {
    pub session_id: SessionId,
    pub request: TurnRequest,
    pub kind: TurnKind,
    /// The caller pushes the turn to the queue itself, so the outbox does not do it before this has passed.
    pub push_grace: Duration,
    /// Set when a tool call starts the turn.
    pub parent: Option<ParentTurn>,
}

/// The turn whose call starts another one, and how many such turns it may run at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentTurn {
    pub turn: TurnId,
    pub fan_out: u32,
}

/// What happens to a message to a busy session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenBusy {
    /// It gets its own turn, behind the open ones.
    Queue,
    /// It becomes a follow-up of the running turn.
    FollowUp,
}

#[derive(Clone, Debug)]
pub enum TurnKind {
    Submit {
        message: NewMessage,
        /// The client's id for the message, used as idempotency key; it is also the id of the message.
        client_id: Option<String>,
        /// Fingerprint of the request, to distinguish a repetition from a reused id.
        fingerprint: String,
        when_busy: WhenBusy,
    },
    /// Regenerates a response: the turn that streamed `from` (or the last one) and all later ones are removed from the history,
    /// and its user message is answered again.
    Regenerate { from: Option<MessageId> },
}

#[derive(Clone, Debug, PartialEq)]
pub enum TurnOpened {
    New(Box<Turn>),
    /// This message id (or this regeneration) already has a turn.
    Joined(Box<Turn>),
    /// The session is busy: the message waits for the next step of its turn (or did, if it was sent before).
    FollowUp(Box<FollowUp>),
    /// Too many follow-ups are waiting. Nothing was stored.
    TooManyFollowUps,
    /// The parent has too many running turns. Nothing was stored.
    TooManyChildren,
    /// The parent has ended or is being canceled. Nothing was stored.
    ParentEnded,
    /// The id belongs to another text.
    Reused,
    /// Only for a regeneration: the session is busy.
    Busy,
    NothingToRegenerate,
    /// The user has too many turns in flight. Nothing was stored.
    TooMany,
    NoSession,
}

#[derive(Clone, Debug)]
pub struct TurnProgress {
    pub session: Session,
    pub owner: Owner,
    pub messages: Vec<Message>,
    pub steps_done: u32,
    pub usage: Usage,
    pub calls: Vec<JournaledCall>,
    /// The number of follow-ups waiting for this turn.
    pub waiting_follow_ups: u32,
    /// For a turn that carries out an operation. Its `messages` are empty until it has lined up (`Operations::line_up`).
    pub operation: Option<Operation>,
}

/// The intent of a tool call, stored before its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournaledCall {
    pub call_id: CallId,
    pub effect: ToolEffect,
    /// How many times it was started.
    pub starts: u32,
    /// Set when it continues in the background.
    pub background: Option<BackgroundRecord>,
}

/// A background call, after `JournalEntry::MovedToBackground`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundRecord {
    pub id: BackgroundId,
    /// How it ended; `None` while it is unknown.
    pub end: Option<BackgroundEnd>,
    /// Whether its end was delivered to the model.
    pub taken: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundEnd {
    pub outcome: ToolOutcome,
    /// JSON, as it would be in the call's message.
    pub output: String,
}

/// Entries that are journaled together.
#[derive(Clone, Debug)]
pub struct JournalRecord {
    pub id: RecordId,
    pub entries: Vec<JournalEntry>,
}

impl JournalRecord {
    pub fn new(entries: Vec<JournalEntry>) -> Self {
        Self { id: RecordId::fresh(), entries }
    }
}

#[derive(Clone, Debug)]
pub enum JournalEntry {
    /// An assistant message, before its tools run.
    Message(NewMessage),
    /// This call is about to run (again).
    Intent { call_id: CallId, effect: ToolEffect },
    /// A tool message: the call's only result. A second result for the same call is refused as `Broken`.
    Result(NewMessage),
    /// One more model call is done, with this usage.
    StepEnded { usage: Usage },
    /// A journaled call continues in the background; its `Result` in the same record says so.
    MovedToBackground { call_id: CallId, id: BackgroundId },
    /// A background call has ended. A second end of the same call changes nothing.
    BackgroundEnded { call_id: CallId, end: BackgroundEnd },
    /// The end of a background call is delivered to the model, with the `Result` in the same record.
    BackgroundTaken { call_id: CallId },
}

/// The result of `finish`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnFinished {
    /// It has ended. These turns are now due because of it: the next one of the session, or of the user.
    Ended(Vec<TurnId>),
    /// A turn cannot complete while follow-ups wait: they must be drained first. Nothing was changed.
    FollowUpsWait,
}

#[derive(Clone, Debug)]
pub struct TurnEnding {
    pub status: TurnStatus,
    pub error: Option<TurnError>,
    pub messages: Vec<NewMessage>,
    /// Usage of the last step; earlier ones were journaled.
    pub usage: Usage,
    /// A title for the session; takes effect only while it has none.
    pub title: Option<String>,
    /// The closing chunks, the terminal ones last.
    pub last: Segment,
    /// For a turn that carries out an operation: its result, if it has none yet.
    pub operation: Option<OperationResult>,
}
