//! The body of a stream response: a reader of the log that pulls only when the socket takes bytes. It has
//! no queue of its own, so a slow client costs one read and its socket.

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

use super::App;
use super::auth::Identity;
use super::live::{self, Broken, DONE, HEARTBEAT, Live, Next, OPENING, POLL};
use super::stream_permits::StreamPermit;

/// Names the turn, so that a client can come back to exactly this stream.
const TURN_HEADER: HeaderName = HeaderName::from_static("x-turn-id");
/// Names the protocol of the chunks.
const PROTOCOL_HEADER: HeaderName = HeaderName::from_static("x-vercel-ai-ui-message-stream");

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Everything, as it was written.
    Start,
    /// Everything so far in few events, then what follows as it is written.
    Replay { until: Seq },
    /// Exactly what follows this chunk.
    After(Seq),
}

/// What a log looks like to somebody who wants to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogState {
    /// Nobody has written to it yet, or nobody knows it any more.
    Missing,
    /// Its beginning is no longer kept.
    Trimmed,
    EndsAt(Seq),
}

pub(crate) async fn log_state(app: &App, task: &TaskId) -> PortResult<LogState> {
    Ok(match app.ports.log.read(task, 0, 1).await? {
        LogRead::Missing => LogState::Missing,
        LogRead::Log { missing_to: Some(_), .. } => LogState::Trimmed,
        LogRead::Log { last, .. } => LogState::EndsAt(last),
    })
}

pub(crate) fn respond(
    app: Arc<App>,
    identity: Identity,
    turn: &Turn,
    from: From,
    permit: StreamPermit,
) -> Response {
    let feed = Feed::new(app, identity, turn, from, permit);
    let pieces = stream::unfold(feed, |mut feed| async move {
        let piece = feed.next().await?;
        if let Err(reason) = &piece {
            tracing::debug!(turn.id = %feed.turn.id, %reason, "a stream was broken off");
        }
        Some((piece, feed))
    });
    with_headers(Body::from_stream(pieces), &turn.id)
}

/// The whole stream of a message that became a follow-up: well-formed, and without words.
pub(crate) fn nothing_here(follow_up: &FollowUp) -> Response {
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
    let mut response = live::answer(body);
    let headers = response.headers_mut();
    headers.insert(PROTOCOL_HEADER, HeaderValue::from_static("v1"));
    if let Ok(id) = HeaderValue::from_str(turn.as_str()) {
        headers.insert(TURN_HEADER, id);
    }
    response
}

struct Feed {
    live: Live,
    turn: TurnRef,
    follower: LogFollower,
    stage: Stage,
    /// Wakes when a log that is not there yet appears; dropped with the first event.
    appearing: Option<LogWatch>,
    outage: Outage,
}

struct TurnRef {
    id: protocol::TurnId,
    /// A turn without a log that has ended had its log removed, or is about to show it: looked at twice.
    seen_ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outage {
    None,
    /// The client knows.
    Told,
}

enum Stage {
    Opening(From),
    Replaying { merger: DeltaMerger, until: Seq },
    Live,
    Over,
}

impl Feed {
    fn new(
        app: Arc<App>,
        identity: Identity,
        turn: &Turn,
        from: From,
        permit: StreamPermit,
    ) -> Self {
        let after = match from {
            From::Start | From::Replay { .. } => 0,
            From::After(cursor) => cursor,
        };
        let task = turn.id.task();
        Self {
            appearing: Some(app.ports.log.watch(&task)),
            follower: LogFollower::new(app.ports.log.clone(), task, after, POLL),
            turn: TurnRef { id: turn.id.clone(), seen_ended: false },
            stage: Stage::Opening(from),
            outage: Outage::None,
            live: Live::new(app, identity, permit),
        }
    }

    /// The next bytes to send; `None` closes the body cleanly.
    async fn next(&mut self) -> Option<Result<Bytes, Broken>> {
        match self.stage {
            Stage::Over => return None,
            // Sent at once, so that the client has its headers before the turn says anything.
            Stage::Opening(from) => {
                self.stage = match from {
                    From::Replay { until } if until > 0 => {
                        Stage::Replaying { merger: DeltaMerger::default(), until }
                    }
                    _ => Stage::Live,
                };
                return Some(Ok(Bytes::from_static(OPENING.as_bytes())));
            }
            Stage::Replaying { .. } | Stage::Live => {}
        }
        let piece = self.follow().await;
        if piece.is_err() {
            self.stage = Stage::Over;
        }
        self.live.spoke();
        Some(piece)
    }

    async fn follow(&mut self) -> Result<Bytes, Broken> {
        loop {
            let patience = match self.live.what_next().await? {
                Next::Heartbeat => return Ok(HEARTBEAT),
                Next::Wait(patience) => patience,
            };
            let followed = self.live.until_the_end(self.follower.next(patience)).await?;
            let followed = match followed {
                Err(PortError::Unavailable(_)) => match self.sit_out().await? {
                    Some(notice) => return Ok(notice),
                    None => continue,
                },
                followed => followed?,
            };
            self.outage = Outage::None;
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
                    self.stage = Stage::Over;
                    return Ok(Bytes::from_static(DONE.as_bytes()));
                }
                LogUpdate::Gone => self.wait_for_log(patience).await?,
            }
        }
    }

    /// A store that does not answer is no end either: the client is told once, and the stream goes on when it does.
    async fn sit_out(&mut self) -> Result<Option<Bytes>, Broken> {
        if self.outage == Outage::None {
            self.outage = Outage::Told;
            return Ok(Some(notice(
                "The server cannot reach its store. The answer goes on when it can…",
            )));
        }
        self.live.until_the_end(tokio::time::sleep(POLL)).await.map(|()| None)
    }

    /// An accepted turn has no log before a worker claims it. That is not an end.
    async fn wait_for_log(&mut self, patience: Duration) -> Result<(), Broken> {
        let Some(appearing) = &mut self.appearing else { return Err(Broken::Gone) };
        let Live { app, identity, .. } = &self.live;
        let turn = match app.ports.turns.get(&identity.owner, &self.turn.id).await {
            Err(PortError::Unavailable(_)) => {
                tokio::time::sleep(patience.min(POLL)).await;
                return Ok(());
            }
            turn => turn?,
        };
        match turn {
            None => return Err(Broken::Gone),
            Some(turn) if turn.status.is_final() => {
                if self.turn.seen_ended {
                    return Err(Broken::Gone);
                }
                self.turn.seen_ended = true;
                return Ok(());
            }
            Some(_) => {}
        }
        self.live.until_the_end(appearing.changed(patience.min(POLL))).await
    }

    fn render(&mut self, segments: Vec<Segment>) -> Bytes {
        let Stage::Replaying { merger, until } = &mut self.stage else { return joined(segments) };
        let mut out = BytesMut::new();
        for segment in &segments {
            out.extend_from_slice(&merger.feed(segment));
        }
        if self.follower.cursor() >= *until {
            out.extend_from_slice(&merger.finish());
            self.stage = Stage::Live;
        }
        out.freeze()
    }
}

/// A status without a place in the log: it is about this connection, so a replay does not repeat it.
fn notice(words: &str) -> Bytes {
    Bytes::from(unnumbered(&Chunk::status(words)))
}

/// An event that stands in no log.
fn unnumbered(chunk: &Chunk) -> String {
    let chunk = serde_json::to_string(chunk).unwrap_or_default();
    format!("data: {chunk}\n\n")
}

/// One write for all that is ready; the bytes of a single segment are passed on as they are stored.
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
