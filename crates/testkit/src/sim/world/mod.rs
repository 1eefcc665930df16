//! What all processes of a simulation share: the store, the logs and the queue, as plain sequential code over ordered
//! maps. It keeps the laws of `ports` (the conformance suite says so) and knows nothing of faults.

mod arrivals;
mod finish;
mod follow_ups;
mod insert;
mod journal;
mod leases;
mod log;
mod messages;
mod operations;
mod outbox;
mod parked;
mod places;
mod queue;
mod regenerate;
mod sessions;
mod tree;
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

pub use self::arrivals::Arrivals;
pub use self::follow_ups::FollowUpRow;
pub(super) use self::log::End;
pub use self::log::Log;
pub use self::places::Aside;
pub use self::queue::Line;
pub(super) use self::queue::Look;

/// Time since the world began, on the one clock that all its leases are judged by.
pub type Moment = Duration;

pub struct World {
    began: Instant,
    state: Mutex<State>,
    /// Somebody was put in the line.
    pub(super) line_grew: Notify,
    /// Somebody said what an operation came to.
    pub(super) arrived: Notify,
}

pub struct State {
    pub now: Moment,
    pub caps: UserLimits,
    pub sessions: BTreeMap<SessionId, SessionRow>,
    pub turns: BTreeMap<TurnId, TurnRow>,
    /// In the order they came.
    pub follow_ups: Vec<FollowUpRow>,
    pub operations: BTreeMap<OperationId, Operation>,
    pub logs: BTreeMap<TaskId, Log>,
    pub line: Line,
    pub arrivals: Arrivals,
    watchers: BTreeMap<TaskId, Vec<watch::Sender<Seq>>>,
    /// Counts what was made, so that ids are the same in every run.
    made: u64,
}

pub struct SessionRow {
    pub session: Session,
    pub messages: Vec<MessageRow>,
    last_ordinal: i64,
    /// Sessions in the order in which they were made.
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
    /// Its place in the order of its session. Below zero: an operation that has not lined up.
    pub ordinal: i64,
    /// The order in which turns were accepted, over all sessions.
    pub accepted: u64,
    pub client_id: Option<String>,
    pub slot: String,
    pub opened: Moment,
    pub admitted: bool,
    pub aside: Aside,
    /// The work goes on elsewhere until then, at most, and nobody has anything to do for it here.
    pub rests_until: Option<Moment>,
    pub lease_until: Option<Moment>,
    pub ended: Option<Moment>,
    /// When somebody first asked for it to stop.
    pub cancelled: Option<Moment>,
    pub calls: Vec<JournaledCall>,
    /// Whether a follow-up has ever waited for it.
    pub followed_up: bool,
    fingerprint: Option<String>,
    due: Option<Moment>,
    worker: Option<WorkerId>,
    started: Option<Moment>,
    steps_done: u32,
    last_record: Option<RecordId>,
    regenerates: Option<TurnId>,
    superseded: bool,
}

impl World {
    pub fn new(caps: UserLimits) -> Arc<Self> {
        let state = State {
            now: Moment::ZERO,
            caps,
            sessions: BTreeMap::new(),
            turns: BTreeMap::new(),
            follow_ups: Vec::new(),
            operations: BTreeMap::new(),
            logs: BTreeMap::new(),
            line: Line::default(),
            arrivals: Arrivals::default(),
            watchers: BTreeMap::new(),
            made: 0,
        };
        let began = Instant::now();
        Arc::new(Self {
            began,
            state: Mutex::new(state),
            line_grew: Notify::new(),
            arrived: Notify::new(),
        })
    }

    pub fn now(&self) -> Moment {
        self.began.elapsed()
    }

    /// Everything, with its clock set. Nobody may wait while he holds it.
    pub fn state(&self) -> MutexGuard<'_, State> {
        // A check that fails panics with this lock held; whoever still looks sees what it saw.
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.now = self.began.elapsed();
        state
    }
}

impl State {
    /// The time of day, for people.
    pub fn wall(&self) -> Timestamp {
        let micros = i64::try_from(self.now.as_micros()).unwrap_or(i64::MAX);
        Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Names for what others have chosen the ids of, by chance: the same in every run.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        let sessions = self.sessions.values();
        let sessions = sessions.map(|row| (row.session.id.0.clone(), session_name(row.created)));
        let turns = self.turns.values().map(|row| (row.turn.id.0.clone(), turn_name(row.accepted)));
        sessions.chain(turns).filter(|(id, name)| id != name).collect()
    }

    /// The turn, if the claim still holds. Whoever gets `None` must change nothing.
    fn held(&mut self, claim: &TurnClaim) -> Option<&mut TurnRow> {
        let row = self.turns.get_mut(&claim.turn_id)?;
        row.holds(claim).then_some(row)
    }

    /// The first turn in the order of the session that has no final status.
    fn first_open(&self, session: &SessionId) -> Option<&TurnRow> {
        let open = self.turns.values().filter(|row| row.is_open() && row.is_in_line());
        open.filter(|row| row.turn.session_id == *session).min_by_key(|row| row.ordinal)
    }

    /// Whether no turn of its session comes before it.
    fn is_next(&self, row: &TurnRow) -> bool {
        let first = || self.first_open(&row.turn.session_id);
        !row.is_in_line() || first().is_some_and(|open| open.turn.id == row.turn.id)
    }

    /// The turn as its owner sees it now: a session may have been given to a user after the turn was made.
    fn seen(&self, row: &TurnRow) -> Turn {
        let session = self.sessions.get(&row.turn.session_id);
        let user_id = session.and_then(|row| row.session.user_id.clone());
        let aside = row.aside != Aside::No;
        Turn { user_id, admitted: row.admitted, aside, ..row.turn.clone() }
    }
}

fn session_name(number: u64) -> String {
    format!("session-{number:04}")
}

fn turn_name(number: u64) -> String {
    format!("turn-{number:04}")
}

impl TurnRow {
    pub fn is_open(&self) -> bool {
        !self.turn.status.is_final()
    }

    /// Whether it has a place in the order of its session.
    pub fn is_in_line(&self) -> bool {
        self.ordinal > 0
    }

    /// Whether it has one of the places of its user.
    pub fn has_place(&self) -> bool {
        self.admitted && self.aside == Aside::No
    }

    fn holds(&self, claim: &TurnClaim) -> bool {
        self.turn.fence == claim.fence && self.turn.status == protocol::turn::TurnStatus::Running
    }
}
