//! The state that all simulated nodes share: store, stream logs, queue and completion messages, as sequential code over
//! ordered maps. It passes the conformance suite and contains no faults.

mod background_calls;
mod child_turns;
mod completion_inbox;
mod finish_turn;
mod follow_ups;
mod insert_turn;
mod journal;
mod leases;
mod log;
mod messages;
mod operations;
mod outbox;
mod permits;
mod queue;
mod regenerate;
mod sessions;
mod turns;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use jiff::Timestamp;
use ports::store::JournaledCall;
use protocol::limits::UserLimits;
use protocol::message::Message;
use protocol::operation::Operation;
use protocol::session::Session;
use protocol::turn::{Turn, TurnClaim};
use protocol::{OperationId, RecordId, Seq, SessionId, TaskId, TurnId, WorkerId};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

pub use self::completion_inbox::CompletionInbox;
pub use self::follow_ups::FollowUpRow;
pub(crate) use self::log::AppendMode;
pub use self::log::TaskLog;
pub use self::permits::PermitYield;
pub use self::queue::JobQueue;
pub(crate) use self::queue::QueuePop;

/// Time since the simulation started, on the one clock that all leases are measured by.
pub type SimTime = Duration;

pub struct SimBackend {
    began: Instant,
    state: Mutex<BackendState>,
    /// A job was queued.
    pub(crate) job_queued: Notify,
    /// A completion message was sent.
    pub(crate) completion_sent: Notify,
}

pub struct BackendState {
    pub now: SimTime,
    pub caps: UserLimits,
    pub sessions: BTreeMap<SessionId, SessionRow>,
    pub turns: BTreeMap<TurnId, TurnRow>,
    /// In order of arrival.
    pub follow_ups: Vec<FollowUpRow>,
    pub operations: BTreeMap<OperationId, Operation>,
    pub logs: BTreeMap<TaskId, TaskLog>,
    pub queue: JobQueue,
    pub completions: CompletionInbox,
    watchers: BTreeMap<TaskId, Vec<watch::Sender<Seq>>>,
    /// The last number given to a session or turn; ids derived from it are the same in every run of a seed.
    last_number: u64,
}

pub struct SessionRow {
    pub session: Session,
    pub messages: Vec<MessageRow>,
    last_ordinal: i64,
    /// Number of the session in order of creation.
    pub created: u64,
}

#[derive(Clone)]
pub struct MessageRow {
    pub message: Message,
    pub ordinal: i64,
    pub superseded: bool,
}

pub struct TurnRow {
    pub turn: Turn,
    /// Position in the order of its session. Negative: an operation that has not joined that order yet.
    pub ordinal: i64,
    /// Number of the turn in order of acceptance, over all sessions.
    pub accepted: u64,
    pub client_id: Option<String>,
    pub quota_key: String,
    pub opened: SimTime,
    pub admitted: bool,
    pub permit_yield: PermitYield,
    /// Until then, at most, an external service does the work and no worker is needed.
    pub external_work_until: Option<SimTime>,
    pub lease_until: Option<SimTime>,
    pub ended: Option<SimTime>,
    /// When a cancel was first requested.
    pub cancelled: Option<SimTime>,
    pub calls: Vec<JournaledCall>,
    /// Whether it ever had a follow-up.
    pub had_follow_ups: bool,
    fingerprint: Option<String>,
    due: Option<SimTime>,
    worker: Option<WorkerId>,
    started: Option<SimTime>,
    steps_done: u32,
    last_record: Option<RecordId>,
    regenerates: Option<TurnId>,
    superseded: bool,
}

impl SimBackend {
    pub fn new(caps: UserLimits) -> Arc<Self> {
        let state = BackendState {
            now: SimTime::ZERO,
            caps,
            sessions: BTreeMap::new(),
            turns: BTreeMap::new(),
            follow_ups: Vec::new(),
            operations: BTreeMap::new(),
            logs: BTreeMap::new(),
            queue: JobQueue::default(),
            completions: CompletionInbox::default(),
            watchers: BTreeMap::new(),
            last_number: 0,
        };
        let began = Instant::now();
        Arc::new(Self {
            began,
            state: Mutex::new(state),
            job_queued: Notify::new(),
            completion_sent: Notify::new(),
        })
    }

    pub fn now(&self) -> SimTime {
        self.began.elapsed()
    }

    /// The state, with its clock set. Callers must not await while they hold the guard.
    pub fn state(&self) -> MutexGuard<'_, BackendState> {
        // A failed check panics while it holds this lock; the state is still valid to read.
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.now = self.began.elapsed();
        state
    }
}

impl BackendState {
    /// The simulated time as a timestamp.
    pub fn wall(&self) -> Timestamp {
        let micros = i64::try_from(self.now.as_micros()).unwrap_or(i64::MAX);
        Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Labels for random ids, the same in every run of a seed.
    pub(crate) fn labels(&self) -> Vec<(String, String)> {
        let sessions = self.sessions.values();
        let sessions = sessions.map(|row| (row.session.id.0.clone(), session_label(row.created)));
        let turns =
            self.turns.values().map(|row| (row.turn.id.0.clone(), turn_label(row.accepted)));
        sessions.chain(turns).filter(|(id, name)| id != name).collect()
    }

    /// The turn, if the claim is current. On `None` the caller must change nothing.
    fn claimed_row(&mut self, claim: &TurnClaim) -> Option<&mut TurnRow> {
        self.held_row(&claim.turn_id, claim.fence)
    }

    fn held_row(&mut self, turn: &TurnId, fence: u64) -> Option<&mut TurnRow> {
        self.turns.get_mut(turn).filter(|row| row.is_held_under(fence))
    }

    /// The first turn of the session without a final status.
    fn first_open(&self, session: &SessionId) -> Option<&TurnRow> {
        let open = self.turns.values().filter(|row| row.is_open() && row.has_ordinal());
        open.filter(|row| row.turn.session_id == *session).min_by_key(|row| row.ordinal)
    }

    /// Whether no open turn of its session comes before it.
    fn is_next(&self, row: &TurnRow) -> bool {
        let first = || self.first_open(&row.turn.session_id);
        !row.has_ordinal() || first().is_some_and(|open| open.turn.id == row.turn.id)
    }

    /// The turn as its owner sees it now: the session may have been assigned to a user after the turn was opened.
    fn visible_turn(&self, row: &TurnRow) -> Turn {
        let session = self.sessions.get(&row.turn.session_id);
        let user_id = session.and_then(|row| row.session.user_id.clone());
        let aside = row.permit_yield != PermitYield::None;
        Turn { user_id, admitted: row.admitted, aside, ..row.turn.clone() }
    }
}

fn session_label(number: u64) -> String {
    format!("session-{number:04}")
}

fn turn_label(number: u64) -> String {
    format!("turn-{number:04}")
}

impl TurnRow {
    pub fn is_open(&self) -> bool {
        !self.turn.status.is_final()
    }

    /// Whether it has a position in the order of its session.
    pub fn has_ordinal(&self) -> bool {
        self.ordinal > 0
    }

    /// Whether it holds a concurrency permit of its user.
    pub fn has_permit(&self) -> bool {
        self.admitted && self.permit_yield == PermitYield::None
    }

    fn is_held_under(&self, fence: u64) -> bool {
        self.turn.fence == fence && self.turn.status == protocol::turn::TurnStatus::Running
    }
}
