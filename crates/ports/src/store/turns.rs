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

/// Laws: a message and its turn are accepted together or not at all; one message id makes one turn
/// (`one_message_id_makes_one_turn`), with another text it is refused (`a_reused_message_id_is_refused`); message
/// sequences are dense (`sequences_are_dense_under_concurrency`); a stale claim changes nothing
/// (`a_stale_claim_changes_nothing`); a repeated record is written once (`a_record_that_is_repeated_is_written_once`);
/// a turn ends once, together with its last chunks (`a_turn_ends_once`); its end makes the next turn of the session due
/// (`the_end_of_a_turn_makes_the_next_one_due`). A user has at most `Caps::in_flight` open turns
/// (`a_user_has_no_more_in_flight_than_the_cap`) and at most `Caps::running` of them are admitted, exactly, however many
/// are opened at once (`no_more_are_admitted_than_may_run`); the others wait in the order they were accepted and are
/// admitted as admitted ones end (`those_over_the_cap_are_admitted_in_order`). A turn that steps aside gives its place
/// to the next (`a_turn_that_steps_aside_gives_its_place_to_the_next`) and gets one back before those that have not
/// begun (`who_stepped_aside_comes_before_those_that_have_not_begun`), never one too many
/// (`stepping_back_never_exceeds_the_cap`); a claim leaves that as it is (`a_claim_does_not_bring_a_turn_back`).
/// A turn that a call starts needs its parent at work (`a_parent_that_has_ended_or_is_cancelled_starts_nothing`) and is
/// one of at most so many (`a_parent_has_no_more_children_at_work_than_the_fan_out`); a cancel reaches the whole tree
/// (`a_cancel_reaches_the_whole_tree`). What is parked stays in the journal (`a_parked_call_stays_in_the_journal`,
/// `only_a_call_of_the_journal_is_parked`) and ends with its turn (`what_is_still_parked_ends_with_its_turn`).
///
/// A turn is *admitted* when it is the oldest open one of its session and one of its user's places is free. Only an
/// admitted turn is due and can be claimed, so the queue never holds more of one user's turns than may run, and what is
/// admitted next goes behind everything that waits: users take turns. Without a user a session counts as its own.
#[async_trait]
pub trait Turns: Send + Sync {
    /// One transaction: user message, turn row, outbox entry. On stable storage when it returns.
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened>;

    async fn get(&self, owner: &Owner, turn: &TurnId) -> PortResult<Option<Turn>>;

    /// The oldest turn of the session that has no final status; else the one that ended last, with how long ago
    /// that was by a clock that does not jump (`None`: before this process started).
    async fn current(
        &self,
        owner: &Owner,
        session: &SessionId,
    ) -> PortResult<Option<(Turn, Option<Duration>)>>;

    /// Marks every turn of the session that has no final status, its operations among them, and every such turn that
    /// a turn of the session has started, over any number of hops. Returns them all: those of the session first, the
    /// oldest first, then level by level.
    async fn request_cancel(&self, owner: &Owner, session: &SessionId) -> PortResult<Vec<Turn>>;

    /// Everything an attempt starts from: the session, the history up to this turn in the order of the turns, and
    /// what this turn has journaled.
    async fn progress(&self, claim: &TurnClaim) -> PortResult<Fenced<TurnProgress>>;

    /// Journals, all or nothing. The last record of a turn given again changes nothing and is `Done`, so a caller that
    /// did not hear the answer repeats it.
    async fn record(&self, claim: &TurnClaim, record: JournalRecord) -> PortResult<Fenced<()>>;

    /// The one way a turn ends: status, last messages, usage, last chunks and the seal of its log in one
    /// transaction. With it end the follow-ups that still wait (dropped by a cancel, returned by a failure), the calls
    /// that are still parked (`Cancelled`), and the operation that the turn carries out, if it has no result yet.
    async fn finish(
        &self,
        claim: &TurnClaim,
        ending: TurnEnding,
    ) -> PortResult<Fenced<TurnFinished>>;

    /// Gives up the turn's place among those that run, without giving up the turn, and says who is due because of it.
    /// Repeated it changes nothing.
    async fn step_aside(&self, claim: &TurnClaim) -> PortResult<Fenced<Vec<TurnId>>>;

    /// Takes a place again, if there is one: `false` means that the turn has none yet, and gets the next one that is
    /// free before any turn that has not begun; ask again. A turn that is not aside has its place: `true`.
    async fn step_back(&self, claim: &TurnClaim) -> PortResult<Fenced<bool>>;

    /// How many turns wait and how many run, for the metrics.
    async fn count_open(&self) -> PortResult<OpenTurns>;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenTurns {
    pub queued: u64,
    pub running: u64,
    /// How long the oldest queued one has waited, by the time of day: for people, not for decisions.
    pub oldest_queued: Duration,
}

/// What the queue should be told. An entry is written with the change that causes it, so it cannot be forgotten; a
/// claim removes it.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Turns that somebody should claim: accepted, handed back, admitted, or left by a dead worker; the oldest first.
    /// Nobody else is given them before `hold` has passed, so that of several relays one pushes each.
    async fn due(&self, limit: u32, hold: Duration) -> PortResult<Vec<TurnId>>;

    /// They were pushed; they become due again when nobody has claimed them after `again_in`.
    async fn pushed(&self, turns: &[TurnId], again_in: Duration) -> PortResult<()>;

    /// How many wait to be pushed and for how long the oldest has.
    async fn lag(&self) -> PortResult<(u64, Duration)>;
}

#[derive(Clone, Debug)]
pub struct NewTurn {
    pub session_id: SessionId,
    pub request: TurnRequest,
    pub kind: TurnKind,
    /// The caller pushes the turn to the queue itself, so the outbox need not before this has passed.
    pub push_grace: Duration,
    /// Set when a tool call starts it.
    pub parent: Option<ParentTurn>,
}

/// The turn whose call starts another one, and how many such it may have at work at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentTurn {
    pub turn: TurnId,
    pub fan_out: u32,
}

/// What becomes of a message to a session that is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenBusy {
    /// A turn of its own, behind those that are open.
    Queue,
    /// A follow-up of the turn that is at work.
    FollowUp,
}

#[derive(Clone, Debug)]
pub enum TurnKind {
    Submit {
        message: NewMessage,
        /// The client's id for the message, its idempotency key; it is then also the id of the row.
        client_id: Option<String>,
        /// Fingerprint of what was asked, to tell a repetition from a reused id.
        fingerprint: String,
        when_busy: WhenBusy,
    },
    /// Answer an earlier message again: the turn that streamed `from` (or the last one) and all after it leave the
    /// history, and its user message is answered anew.
    Regenerate { from: Option<MessageId> },
}

#[derive(Clone, Debug, PartialEq)]
pub enum TurnOpened {
    New(Box<Turn>),
    /// This message id (or this regeneration) has a turn already.
    Joined(Box<Turn>),
    /// The session is at work: the message waits for the next step of its turn (or did, when it is sent again).
    FollowUp(Box<FollowUp>),
    /// As many follow-ups wait as may wait. Nothing was stored.
    TooManyFollowUps,
    /// The parent has as many turns at work as it may have. Nothing was stored.
    TooManyChildren,
    /// The parent has ended or is being cancelled. Nothing was stored.
    ParentEnded,
    /// The id stands for another text.
    Reused,
    /// Only for a regeneration: the session is at work on something else.
    Busy,
    NothingToRegenerate,
    /// The user has as many turns in flight as a user may have. Nothing was stored.
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
    /// How many follow-ups wait for this turn.
    pub waiting_follow_ups: u32,
    /// For a turn that carries out an operation. Before it has lined up (`Operations::line_up`) its `messages` are
    /// empty.
    pub operation: Option<Operation>,
}

/// The intent of a tool call, stored before its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournaledCall {
    pub call_id: CallId,
    pub effect: ToolEffect,
    /// How often it was started.
    pub starts: u32,
    /// Set when it went on in the background.
    pub parked: Option<BackgroundRecord>,
}

/// A call that went on in the background, after `JournalEntry::Parked`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundRecord {
    pub id: BackgroundId,
    /// How it ended; `None` while nobody has said.
    pub end: Option<BackgroundEnd>,
    /// Whether the model has been given its end.
    pub taken: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundEnd {
    pub outcome: ToolOutcome,
    /// JSON, as it would have stood in the call's row.
    pub output: String,
}

/// What is journaled together.
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
    /// About to run this call (again).
    Intent { call_id: CallId, effect: ToolEffect },
    /// A tool row: the call's one result. A second result for the same call is refused as `Broken`.
    Result(NewMessage),
    /// One more model call is done, and this is what it used.
    StepEnded { usage: Usage },
    /// A journaled call goes on in the background; its `Result` says so and stands in the same record.
    Parked { call_id: CallId, id: BackgroundId },
    /// A parked call has ended. A second end of the same call changes nothing.
    ParkedEnded { call_id: CallId, end: BackgroundEnd },
    /// The model is given the end of a parked call, with the `Result` in the same record.
    ParkedTaken { call_id: CallId },
}

/// The answer to `finish`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnFinished {
    /// It has ended. These turns are now due because of it: the next one of the session, or of the user.
    Ended(Vec<TurnId>),
    /// A completed end is refused while follow-ups wait: they are to be drained first. Nothing was changed.
    FollowUpsWait,
}

#[derive(Clone, Debug)]
pub struct TurnEnding {
    pub status: TurnStatus,
    pub error: Option<TurnError>,
    pub messages: Vec<NewMessage>,
    /// Of the last step; earlier ones were journaled.
    pub usage: Usage,
    /// A name for the session; takes effect only while it has none.
    pub title: Option<String>,
    /// The closing chunks, the terminal ones last.
    pub last: Segment,
    /// For a turn that carries out an operation: what that came to, if it has no result yet.
    pub operation: Option<OperationResult>,
}
