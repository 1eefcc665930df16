//! The stream of a turn: a cursor over its stream log. It has no queue of its own, so a slow client costs one read and
//! its socket.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use http::{HeaderName, HeaderValue};
use ports::stream_log::{LogRead, LogWatch};
use ports::{LogFollower, LogUpdate, PortError, PortResult, StreamLog};
use protocol::follow_up::FollowUp;
use protocol::replay::DeltaMerger;
use protocol::turn::Turn;
use protocol::{Chunk, MessageId, Segment, Seq, TaskId, TurnId};
use serde_json::json;

use super::event_stream::{
    DONE, EventSource, OPENING, POLL, SourceUpdate, StreamAborted, StreamConnection,
    event_stream_response,
};
use crate::http::AppState;

/// The turn id, with which a client can resume exactly this stream.
const TURN_HEADER: HeaderName = HeaderName::from_static("x-turn-id");
/// The protocol of the chunks.
const PROTOCOL_HEADER: HeaderName = HeaderName::from_static("x-vercel-ai-ui-message-stream");

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamStart {
    /// Everything, as it was written.
    Start,
    /// Everything so far merged into few events, then live.
    Replay { until: Seq },
    /// Exactly what follows this chunk.
    After(Seq),
}

/// The state of a log that is about to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogState {
    /// Nothing has been written yet, or the log has been removed.
    Missing,
    /// Its beginning has been removed.
    Trimmed,
    EndsAt(Seq),
}

pub(crate) async fn log_state(app: &AppState, task: &TaskId) -> PortResult<LogState> {
    Ok(match app.ports.log.read(task, 0, 1).await? {
        LogRead::Missing => LogState::Missing,
        LogRead::Log { missing_to: Some(_), .. } => LogState::Trimmed,
        LogRead::Log { last, .. } => LogState::EndsAt(last),
    })
}

pub(crate) fn respond(connection: StreamConnection, turn: &Turn, from: StreamStart) -> Response {
    let log = &connection.app.ports.log;
    let source = TurnStream::new(log, turn, from);
    with_turn_headers(connection.respond(source), &turn.id)
}

/// The whole stream of a message that became a follow-up: well-formed, and without text.
pub(crate) fn follow_up_only(follow_up: &FollowUp) -> Response {
    let message_id = MessageId(format!("follow-up-{}", follow_up.id));
    let about = json!({"followUp": {"id": follow_up.id, "turnId": follow_up.turn_id, "state": follow_up.state}});
    let chunks = [
        Chunk::Start { message_id, message_metadata: Some(about) },
        Chunk::StartStep,
        Chunk::FinishStep,
        Chunk::Finish { finish_reason: None, message_metadata: None },
    ];
    let events: String = chunks.iter().map(unnumbered).collect();
    let body = Body::from(format!("{OPENING}{events}{DONE}"));
    with_turn_headers(event_stream_response(body), &follow_up.turn_id)
}

fn with_turn_headers(mut response: Response, turn: &TurnId) -> Response {
    let headers = response.headers_mut();
    headers.insert(PROTOCOL_HEADER, HeaderValue::from_static("v1"));
    if let Ok(id) = HeaderValue::from_str(turn.as_str()) {
        headers.insert(TURN_HEADER, id);
    }
    response
}

struct TurnStream {
    turn: TurnRef,
    follower: LogFollower,
    /// Merges what was written before the stream was opened; dropped when the replay reaches its end.
    replay: Option<Replay>,
    /// Wakes when the log appears; dropped with the first event.
    appearing: Option<LogWatch>,
    outage: StoreOutage,
}

struct TurnRef {
    id: TurnId,
    /// An ended turn without a log had its log removed, or its log is about to appear: checked twice.
    seen_ended: bool,
}

struct Replay {
    merger: DeltaMerger,
    until: Seq,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StoreOutage {
    None,
    /// The client has been notified.
    Notified,
}

impl EventSource for TurnStream {
    async fn next(
        &mut self,
        connection: &StreamConnection,
        max_wait: Duration,
    ) -> Result<SourceUpdate, StreamAborted> {
        let update = match connection.or_shutdown(self.follower.next(max_wait)).await? {
            Err(PortError::Unavailable(_)) => return self.wait_for_store(connection).await,
            update => update?,
        };
        self.outage = StoreOutage::None;
        match update {
            LogUpdate::Segments(segments) => {
                self.appearing = None;
                let bytes = self.render(segments);
                Ok(if bytes.is_empty() {
                    SourceUpdate::Silent
                } else {
                    SourceUpdate::Events(bytes)
                })
            }
            LogUpdate::Silent => Ok(SourceUpdate::Silent),
            LogUpdate::End => Ok(SourceUpdate::End),
            LogUpdate::Gone => {
                self.wait_for_log(connection, max_wait).await?;
                Ok(SourceUpdate::Silent)
            }
        }
    }

    fn log_abort(&self, reason: &StreamAborted) {
        tracing::debug!(turn.id = %self.turn.id, %reason, "a stream was aborted");
    }
}

impl TurnStream {
    fn new(log: &Arc<dyn StreamLog>, turn: &Turn, from: StreamStart) -> Self {
        let (after, replay) = match from {
            StreamStart::After(cursor) => (cursor, None),
            StreamStart::Replay { until } if until > 0 => {
                (0, Some(Replay { merger: DeltaMerger::default(), until }))
            }
            StreamStart::Start | StreamStart::Replay { .. } => (0, None),
        };
        let task = turn.id.task();
        Self {
            appearing: Some(log.watch(&task)),
            follower: LogFollower::new(log.clone(), task, after, POLL),
            turn: TurnRef { id: turn.id.clone(), seen_ended: false },
            replay,
            outage: StoreOutage::None,
        }
    }

    /// An unavailable store does not end the stream: the client is notified once, and the stream continues afterward.
    async fn wait_for_store(
        &mut self,
        connection: &StreamConnection,
    ) -> Result<SourceUpdate, StreamAborted> {
        if self.outage == StoreOutage::None {
            self.outage = StoreOutage::Notified;
            return Ok(SourceUpdate::Events(notice(
                "The server can't reach its database. The response will continue when it can…",
            )));
        }
        connection.or_shutdown(tokio::time::sleep(POLL)).await?;
        Ok(SourceUpdate::Silent)
    }

    /// An accepted turn has no log until a worker claims it.
    async fn wait_for_log(
        &mut self,
        connection: &StreamConnection,
        max_wait: Duration,
    ) -> Result<(), StreamAborted> {
        let Some(appearing) = &mut self.appearing else { return Err(StreamAborted::Gone) };
        let StreamConnection { app, identity, .. } = connection;
        let turn = match app.ports.turns.get(&identity.owner, &self.turn.id).await {
            Err(PortError::Unavailable(_)) => {
                tokio::time::sleep(max_wait.min(POLL)).await;
                return Ok(());
            }
            turn => turn?,
        };
        match turn {
            None => return Err(StreamAborted::Gone),
            Some(turn) if turn.status.is_final() => {
                if self.turn.seen_ended {
                    return Err(StreamAborted::Gone);
                }
                self.turn.seen_ended = true;
                return Ok(());
            }
            Some(_) => {}
        }
        connection.or_shutdown(appearing.changed(max_wait.min(POLL))).await
    }

    fn render(&mut self, segments: Vec<Segment>) -> Bytes {
        let Some(Replay { merger, until }) = &mut self.replay else { return joined(segments) };
        let mut out = BytesMut::new();
        for segment in &segments {
            out.extend_from_slice(&merger.feed(segment));
        }
        if self.follower.cursor() >= *until {
            out.extend_from_slice(&merger.finish());
            self.replay = None;
        }
        out.freeze()
    }
}

/// A status chunk without a log position: it is about this connection, so a replay does not repeat it.
fn notice(text: &str) -> Bytes {
    Bytes::from(unnumbered(&Chunk::status(text)))
}

/// An event that is not in the log.
fn unnumbered(chunk: &Chunk) -> String {
    let chunk = serde_json::to_string(chunk).unwrap_or_default();
    format!("data: {chunk}\n\n")
}

/// One write for everything that is ready; a single segment is passed on without copying.
fn joined(mut segments: Vec<Segment>) -> Bytes {
    if segments.len() == 1 {
        return segments.remove(0).bytes;
    }
    let mut all = BytesMut::with_capacity(segments.iter().map(|segment| segment.bytes.len()).sum());
    for segment in &segments {
        all.extend_from_slice(&segment.bytes);
    }
    all.freeze()
}
