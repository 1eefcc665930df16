//! Follows one turn to its end, through lost connections and restarts of the server.

use futures::StreamExt;
use protocol::sse::SseDecoder;
use protocol::{Chunk, SessionId};
use reqwest::{Response, StatusCode};

use super::api::{ChatApi, turn_of};
use super::keyboard::{Keyboard, LineReading, TypedDuringTurn};
use super::message::TypedMessage;
use super::screen::ChatScreen;
use crate::cli::client::ClientError;
use crate::cli::reconnect::{ReconnectPolicy, RetryDecision, ServerResponded};

/// Larger than any event of the server.
const EVENT_BYTES: usize = 16 * 1024 * 1024;

/// How to get the stream of a turn.
pub(crate) enum TurnStart {
    Send(TypedMessage),
    /// The running turn.
    Resume,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FollowEnd {
    Turn,
    /// The user quits.
    Leave,
}

/// Follows the turns of one session.
pub(crate) struct TurnFollower<'a> {
    pub(crate) api: &'a ChatApi,
    pub(crate) session: SessionId,
    pub(crate) screen: &'a mut ChatScreen,
    pub(crate) keyboard: Keyboard,
    /// The last turn that was shown.
    pub(crate) shown: Option<String>,
    /// A message typed while a turn ran that could not be sent to it.
    pub(crate) kept: Option<TypedMessage>,
    /// Follow-ups sent to the running turn that are not known to be delivered.
    pub(crate) queued: Vec<TypedMessage>,
}

/// The progress in one turn.
struct FollowProgress {
    start: TurnStart,
    turn: Option<String>,
    last_event: Option<String>,
    stop: StopRequest,
    /// Whether the message has become a follow-up of a turn that was already running.
    joined: bool,
}

/// Whether Ctrl-C was pressed.
#[derive(PartialEq, Eq)]
enum StopRequest {
    NotRequested,
    Requested,
}

enum StreamRead {
    Done,
    /// The connection broke: resume at the same position.
    Cut,
    Leave,
}

impl<'a> TurnFollower<'a> {
    pub(crate) fn new(
        api: &'a ChatApi,
        session: SessionId,
        screen: &'a mut ChatScreen,
        keyboard: Keyboard,
    ) -> Self {
        let (shown, kept, queued) = (None, None, Vec::new());
        Self { api, session, screen, keyboard, shown, kept, queued }
    }

    /// Shows a turn to its end.
    pub(crate) async fn follow(&mut self, start: TurnStart) -> Result<FollowEnd, ClientError> {
        let mut progress = FollowProgress::new(start);
        let mut policy = ReconnectPolicy::new();
        loop {
            match self.open(&progress).await {
                Ok(response) if response.status() == StatusCode::NO_CONTENT => {
                    return Ok(FollowEnd::Turn);
                }
                Ok(response) => {
                    if policy.responded() == ServerResponded::Again {
                        self.screen.note("reconnected");
                    }
                    match self.read(response, &mut progress).await {
                        StreamRead::Done if progress.joined => {
                            // Another client has started the running turn, which will answer this message as well.
                            self.screen.note(
                                "a response is already running; your message was added to it",
                            );
                            progress = FollowProgress::new(TurnStart::Resume);
                            continue;
                        }
                        StreamRead::Done => {
                            self.settle_queued().await;
                            self.screen.end_turn();
                            return Ok(FollowEnd::Turn);
                        }
                        StreamRead::Leave => return Ok(FollowEnd::Leave),
                        StreamRead::Cut => {}
                    }
                }
                Err(ClientError::Unreachable) => {}
                Err(refused) => return Err(refused),
            }
            let pause = match policy.failed() {
                RetryDecision::GiveUp => return Err(ClientError::Unreachable),
                RetryDecision::Notify(pause) => {
                    self.screen.note("connection lost; reconnecting…");
                    pause
                }
                RetryDecision::Wait(pause) => pause,
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.keyboard.interrupted() => return Ok(FollowEnd::Leave),
            }
        }
    }

    /// Resumes where it was left, or starts from the beginning. A message sent again with the same id does not start a
    /// second turn.
    async fn open(&self, progress: &FollowProgress) -> Result<Response, ClientError> {
        match progress {
            FollowProgress { turn: Some(turn), last_event: Some(last), .. } => {
                self.api.continue_turn(turn, last).await
            }
            FollowProgress { start: TurnStart::Send(TypedMessage { text, id }), .. } => {
                self.api.send_message(&self.session, text, id).await
            }
            FollowProgress { start: TurnStart::Resume, .. } => self.api.resume(&self.session).await,
        }
    }

    async fn read(&mut self, response: Response, progress: &mut FollowProgress) -> StreamRead {
        progress.turn = turn_of(&response).or(progress.turn.take());
        self.shown.clone_from(&progress.turn);
        let mut decoder = SseDecoder::new(EVENT_BYTES);
        let mut body = response.bytes_stream();
        loop {
            // One message at a time is kept for later; further lines wait in the channel.
            let lines = if self.kept.is_none() { LineReading::Read } else { LineReading::Leave };
            let piece = tokio::select! {
                piece = body.next() => piece,
                typed = self.keyboard.next_during_turn(lines) => match typed {
                    TypedDuringTurn::Line(text) => {
                        self.follow_up(text).await;
                        continue;
                    }
                    TypedDuringTurn::Interrupt if progress.stop == StopRequest::Requested => return StreamRead::Leave,
                    TypedDuringTurn::Interrupt => {
                        progress.stop = StopRequest::Requested;
                        self.request_stop().await;
                        continue;
                    }
                },
            };
            let Some(Ok(piece)) = piece else { return StreamRead::Cut };
            decoder.push(&piece);
            loop {
                match decoder.next_event() {
                    Ok(None) => break,
                    Ok(Some(event)) if event.data == "[DONE]" => return StreamRead::Done,
                    Ok(Some(event)) => {
                        // Unknown chunks of newer servers are skipped, but count as seen.
                        if let Ok(chunk) = serde_json::from_str::<Chunk>(&event.data) {
                            progress.joined |= is_follow_up(&chunk);
                            self.forget_delivered(&chunk);
                            self.screen.show(&chunk);
                        }
                        progress.last_event = event.id.or(progress.last_event.take());
                    }
                    Err(_) => return StreamRead::Cut,
                }
            }
        }
    }

    async fn request_stop(&mut self) {
        self.screen.note("stopping; press Ctrl-C again to quit");
        if self.api.cancel(&self.session).await.is_err() {
            self.screen.note("could not reach the server to stop the response");
        }
    }
}

impl FollowProgress {
    fn new(start: TurnStart) -> Self {
        Self { start, turn: None, last_event: None, stop: StopRequest::NotRequested, joined: false }
    }
}

/// Whether the stream only reports that its message became a follow-up.
fn is_follow_up(chunk: &Chunk) -> bool {
    let Chunk::Start { message_metadata: Some(about), .. } = chunk else { return false };
    about.get("followUp").is_some()
}
