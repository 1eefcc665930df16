//! The response body that streams a turn: it reads the log only when the socket accepts bytes. It has no queue of its
//! own, so a slow client costs one read and its socket.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures::stream;
use http::{HeaderName, HeaderValue};
use ports::stream_log::{LogRead, LogWatch};
use ports::{LogFollower, LogUpdate, PortError, PortResult};
use protocol::follow_up::FollowUp;
use protocol::replay::DeltaMerger;
use protocol::turn::Turn;
use protocol::{Chunk, MessageId, Segment, Seq, TaskId, TurnId};
use serde_json::json;

use super::AppState;
use super::auth::CallerIdentity;
use super::event_stream::{
    self, DONE, EventStream, HEARTBEAT, NextAction, OPENING, POLL, StreamAborted,
};
use super::stream_permits::StreamPermit;

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

pub(crate) fn respond(
    app: Arc<AppState>,
    identity: CallerIdentity,
    turn: &Turn,
    from: StreamStart,
    permit: StreamPermit,
) -> Response {
    let turn_stream = TurnStream::new(app, identity, turn, from, permit);
    let pieces = stream::unfold(turn_stream, |mut turn_stream| async move {
        let piece = turn_stream.next().await?;
        if let Err(reason) = &piece {
            tracing::debug!(turn.id = %turn_stream.turn.id, %reason, "a stream was aborted");
        }
        Some((piece, turn_stream))
    });
    with_headers(Body::from_stream(pieces), &turn.id)
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
    with_headers(Body::from(format!("{OPENING}{events}{DONE}")), &follow_up.turn_id)
}

fn with_headers(body: Body, turn: &TurnId) -> Response {
    let mut response = event_stream::event_stream_response(body);
    let headers = response.headers_mut();
    headers.insert(PROTOCOL_HEADER, HeaderValue::from_static("v1"));
    if let Ok(id) = HeaderValue::from_str(turn.as_str()) {
        headers.insert(TURN_HEADER, id);
    }
    response
}

struct TurnStream {
    events: EventStream,
    turn: TurnRef,
    follower: LogFollower,
    stage: TurnStreamStage,
    /// Wakes when the log appears; dropped with the first event.
    appearing: Option<LogWatch>,
    outage: StoreOutage,
}

struct TurnRef {
    id: protocol::TurnId,
    /// An ended turn without a log had its log removed, or its log is about to appear: checked twice.
    seen_ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StoreOutage {
    None,
    /// The client has been notified.
    Notified,
}

enum TurnStreamStage {
    Opening(StreamStart),
    Replaying { merger: DeltaMerger, until: Seq },
    Live,
    Over,
}

impl TurnStream {
    fn new(
        app: Arc<AppState>,
        identity: CallerIdentity,
        turn: &Turn,
        from: StreamStart,
        permit: StreamPermit,
    ) -> Self {
        let after = match from {
            StreamStart::Start | StreamStart::Replay { .. } => 0,
            StreamStart::After(cursor) => cursor,
        };
        let task = turn.id.task();
        Self {
            appearing: Some(app.ports.log.watch(&task)),
            follower: LogFollower::new(app.ports.log.clone(), task, after, POLL),
            turn: TurnRef { id: turn.id.clone(), seen_ended: false },
            stage: TurnStreamStage::Opening(from),
            outage: StoreOutage::None,
            events: EventStream::new(app, identity, permit),
        }
    }

    /// The next bytes to send; `None` closes the body cleanly.
    async fn next(&mut self) -> Option<Result<Bytes, StreamAborted>> {
        match self.stage {
            TurnStreamStage::Over => return None,
            // Sent at once, so that the client has the response headers before the turn writes anything.
            TurnStreamStage::Opening(from) => {
                self.stage = match from {
                    StreamStart::Replay { until } if until > 0 => {
                        TurnStreamStage::Replaying { merger: DeltaMerger::default(), until }
                    }
                    _ => TurnStreamStage::Live,
                };
                return Some(Ok(Bytes::from_static(OPENING.as_bytes())));
            }
            TurnStreamStage::Replaying { .. } | TurnStreamStage::Live => {}
        }
        let piece = self.follow().await;
        if piece.is_err() {
            self.stage = TurnStreamStage::Over;
        }
        self.events.mark_sent();
        Some(piece)
    }

    async fn follow(&mut self) -> Result<Bytes, StreamAborted> {
        loop {
            let max_wait = match self.events.next_action().await? {
                NextAction::Heartbeat => return Ok(HEARTBEAT),
                NextAction::Wait(max_wait) => max_wait,
            };
            let followed = self.events.or_shutdown(self.follower.next(max_wait)).await?;
            let followed = match followed {
                Err(PortError::Unavailable(_)) => match self.wait_for_store().await? {
                    Some(notice) => return Ok(notice),
                    None => continue,
                },
                followed => followed?,
            };
            self.outage = StoreOutage::None;
            match followed {
                LogUpdate::Segments(segments) => {
                    self.appearing = None;
                    let bytes = self.render(segments);
                    if !bytes.is_empty() {
                        return Ok(bytes);
                    }
                }
                LogUpdate::Silent => {}
                LogUpdate::End => {
                    self.stage = TurnStreamStage::Over;
                    return Ok(Bytes::from_static(DONE.as_bytes()));
                }
                LogUpdate::Gone => self.wait_for_log(max_wait).await?,
            }
        }
    }

    /// An unavailable store does not end the stream: the client is notified once, and the stream continues afterward.
    async fn wait_for_store(&mut self) -> Result<Option<Bytes>, StreamAborted> {
        if self.outage == StoreOutage::None {
            self.outage = StoreOutage::Notified;
            return Ok(Some(notice(
                "The server can't reach its database. The response will continue when it can…",
            )));
        }
        self.events.or_shutdown(tokio::time::sleep(POLL)).await.map(|()| None)
    }

    /// An accepted turn has no log until a worker claims it.
    async fn wait_for_log(&mut self, max_wait: Duration) -> Result<(), StreamAborted> {
        let Some(appearing) = &mut self.appearing else { return Err(StreamAborted::Gone) };
        let EventStream { app, identity, .. } = &self.events;
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
        self.events.or_shutdown(appearing.changed(max_wait.min(POLL))).await
    }

    fn render(&mut self, segments: Vec<Segment>) -> Bytes {
        let TurnStreamStage::Replaying { merger, until } = &mut self.stage else {
            return joined(segments);
        };
        let mut out = BytesMut::new();
        for segment in &segments {
            out.extend_from_slice(&merger.feed(segment));
        }
        if self.follower.cursor() >= *until {
            out.extend_from_slice(&merger.finish());
            self.stage = TurnStreamStage::Live;
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
