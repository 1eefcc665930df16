//! Shared setup for the laws: sessions, turns, claims, segments. Laws elsewhere test what is expected to work here.

use std::future::Future;
use std::time::Duration;

use ports::Fenced;
use ports::Ports;
use ports::leases::JobClaimed;
use ports::store::{
    JournalEntry, JournalRecord, NewSession, NewTurn, ParentTurn, TurnEnding, TurnFinished,
    TurnKind, TurnOpened, TurnProgress, WhenBusy,
};
use ports::stream_log::LogRead;
use protocol::message::{Message, MessageRole, NewMessage, ToolCall};
use protocol::session::{Owner, Session};
use protocol::turn::{Turn, TurnClaim, TurnRequest, TurnStatus};
use protocol::usage::Usage;
use protocol::{
    Chunk, Job, MessageId, Segment, SegmentBuilder, Seq, SessionId, TaskId, TurnId, UserId,
    WorkerId,
};

use super::job_scene::{claim_job, due_jobs, try_claim_job};

/// Time limit of a law.
pub const LAW: Duration = Duration::from_secs(60);
/// A lease that does not expire during a law.
pub const LONG: Duration = Duration::from_secs(600);
/// A lease that expires almost at once.
pub const SHORT: Duration = Duration::from_millis(20);

/// A call to a server that is silent ends within this time. Its own limit is two seconds; the rest is for a busy machine.
pub const BOUNDED: Duration = Duration::from_secs(10);

pub fn user(name: &str) -> Owner {
    Owner::User(UserId::from(name))
}

pub async fn session(ports: &Ports, owner: &Owner) -> Session {
    ports.sessions.create(owner, NewSession::default()).await.expect("a session is created")
}

pub fn submission(session: &SessionId, text: &str, client_id: Option<&str>) -> NewTurn {
    NewTurn {
        session_id: session.clone(),
        request: TurnRequest::default(),
        kind: TurnKind::Submit {
            message: NewMessage::new(MessageRole::User, text),
            client_id: client_id.map(str::to_owned),
            fingerprint: format!("fingerprint of {text}"),
            when_busy: WhenBusy::Queue,
        },
        push_grace: Duration::ZERO,
        parent: None,
    }
}

/// The turn as a call of `parent` would start it.
pub fn started_by(parent: &TurnId, fan_out: u32, new: NewTurn) -> NewTurn {
    NewTurn { parent: Some(ParentTurn { turn: parent.clone(), fan_out }), ..new }
}

pub fn regeneration(session: &SessionId, from: Option<MessageId>) -> NewTurn {
    NewTurn { kind: TurnKind::Regenerate { from }, ..submission(session, "", None) }
}

/// Opens a turn in the session.
pub async fn turn(ports: &Ports, owner: &Owner, session: &SessionId, text: &str) -> Turn {
    match ports.turns.open(owner, submission(session, text, None)).await {
        Ok(TurnOpened::New(turn)) => *turn,
        other => panic!("a new turn was expected, not {other:?}"),
    }
}

/// Creates a session of `ann` with one turn.
pub async fn first_turn(ports: &Ports) -> (Owner, Session, Turn) {
    let owner = user("ann");
    let session = session(ports, &owner).await;
    let turn = turn(ports, &owner, &session.id, "hello").await;
    (owner, session, turn)
}

pub fn worker() -> WorkerId {
    WorkerId::fresh()
}

pub async fn claim(ports: &Ports, turn: &TurnId) -> TurnClaim {
    claim_for(ports, turn, LONG).await
}

/// Claims the turn as soon as it can be claimed.
pub async fn claim_for(ports: &Ports, turn: &TurnId, ttl: Duration) -> TurnClaim {
    match claim_job(ports, &turn.into(), ttl).await {
        JobClaimed::Turn(granted) => granted.claim,
        other => panic!("a turn was expected, not {other:?}"),
    }
}

/// A segment that follows `last`, with one chunk per text.
pub fn segment(last: Seq, texts: &[&str]) -> Segment {
    let mut builder = SegmentBuilder::following(last);
    for text in texts {
        builder.push(&Chunk::TextDelta { id: "t".into(), delta: (*text).to_owned() });
    }
    builder.take().expect("a segment has chunks")
}

pub fn ending(status: TurnStatus, last: Seq, messages: Vec<NewMessage>) -> TurnEnding {
    TurnEnding {
        title: None,
        status,
        error: None,
        messages,
        usage: Usage::default(),
        last: segment(last, &["the end"]),
        operation: None,
    }
}

/// Writes a journal record and expects success.
pub async fn record(ports: &Ports, claim: &TurnClaim, entries: Vec<JournalEntry>) {
    let recorded =
        ports.turns.record(claim, JournalRecord::new(entries)).await.expect("recording succeeds");
    assert_eq!(recorded, Fenced::Done(()));
}

/// The progress that an attempt would start from.
pub async fn progress(ports: &Ports, claim: &TurnClaim) -> TurnProgress {
    match ports.turns.progress(claim).await.expect("the read succeeds") {
        Fenced::Done(progress) => progress,
        Fenced::Stale => panic!("the claim is current"),
    }
}

/// Reads the turn.
pub async fn found(ports: &Ports, owner: &Owner, turn: &TurnId) -> Turn {
    ports.turns.get(owner, turn).await.expect("the read succeeds").expect("the turn exists")
}

/// The turns that are due.
pub async fn due(ports: &Ports) -> Vec<TurnId> {
    let turn = |job| match job {
        Job::Turn(id) => Some(id),
        Job::Execution(_) => None,
    };
    due_jobs(ports).await.into_iter().filter_map(turn).collect()
}

pub async fn try_claim(ports: &Ports, turn: &TurnId) -> JobClaimed {
    try_claim_job(ports, &turn.into()).await
}

/// Completes the turn with a response, and returns the turns that become due.
pub async fn finish(ports: &Ports, claim: &TurnClaim, answer: &str) -> Vec<TurnId> {
    let messages = vec![NewMessage::new(MessageRole::Assistant, answer)];
    let last = last(ports, &claim.turn_id.task()).await;
    let ending = ending(TurnStatus::Completed, last, messages);
    match ports.turns.finish(claim, ending).await.expect("finishing succeeds") {
        Fenced::Done(TurnFinished::Ended(due)) => due,
        other => panic!("an end was expected, not {other:?}"),
    }
}

/// Ends the turn without a response.
pub async fn end(ports: &Ports, claim: &TurnClaim, status: TurnStatus) {
    let last = last(ports, &claim.turn_id.task()).await;
    let ended = ports.turns.finish(claim, ending(status, last, Vec::new())).await;
    let ended = ended.expect("finishing succeeds");
    assert!(matches!(ended, Fenced::Done(TurnFinished::Ended(_))), "{ended:?}");
}

/// Opens, claims and completes a turn.
pub async fn whole_turn(ports: &Ports, owner: &Owner, session: &SessionId, text: &str) -> Turn {
    let turn = turn(ports, owner, session, text).await;
    let claim = claim(ports, &turn.id).await;
    finish(ports, &claim, &format!("answer to {text}")).await;
    turn
}

/// The last sequence number of the log.
pub async fn last(ports: &Ports, task: &TaskId) -> Seq {
    match ports.log.read(task, 0, 1).await.expect("the read succeeds") {
        LogRead::Log { last, .. } => last,
        LogRead::Missing => 0,
    }
}

/// An assistant message that calls tools.
pub fn calls(ids: &[&str]) -> NewMessage {
    let mut message = NewMessage::new(MessageRole::Assistant, "");
    message.tool_calls = ids
        .iter()
        .map(|id| ToolCall { id: (*id).into(), name: "look".into(), arguments: "{}".into() })
        .collect();
    message
}

/// The result of a tool call.
pub fn result(id: &str) -> NewMessage {
    let mut message = NewMessage::new(MessageRole::Tool, format!("result of {id}"));
    message.tool_call_id = Some(id.into());
    message.name = Some("look".into());
    message.outcome = Some(protocol::message::ToolOutcome::Ok);
    message
}

pub fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.content.as_str()).collect()
}

/// The whole history of a session, as its owner sees it.
pub async fn history(ports: &Ports, owner: &Owner, session: &SessionId) -> Vec<Message> {
    let page = ports.messages.page(owner, session, 10_000, None).await.expect("the read succeeds");
    page.expect("the session exists").messages
}

/// Polls until `look` returns a value; panics on timeout.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, look: impl Fn() -> F) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    match tokio::time::timeout(LAW / 2, looking).await {
        Ok(found) => found,
        Err(_) => panic!("timed out waiting until {what}"),
    }
}
