//! Following one turn to its end, through lost connections and restarts of the server.

use futures::StreamExt;
use protocol::sse::SseDecoder;
use protocol::{Chunk, SessionId};
use reqwest::{Response, StatusCode};

use super::super::absence::{Absence, Answers, Then};
use super::super::client::Failure;
use super::api::{Api, turn_of};
use super::keyboard::{Keyboard, Lines, Typed};
use super::message::Message;
use super::screen::Screen;

/// Larger events are not ours.
const EVENT_BYTES: usize = 16 * 1024 * 1024;

/// How a turn is come by.
pub(super) enum Begin {
    Send(Message),
    /// The one that runs already.
    Resume,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Turn,
    /// The person wants to go.
    Leave,
}

/// Follows the turns of one session.
pub(super) struct Follower<'a> {
    pub(super) api: &'a Api,
    pub(super) session: SessionId,
    pub(super) screen: &'a mut Screen,
    pub(super) keyboard: Keyboard,
    /// The last turn that was shown.
    pub(super) shown: Option<String>,
    /// What was typed while a turn was at work and could not be sent to it.
    pub(super) kept: Option<Message>,
    /// What was sent to the turn at work and is not known to have reached the model.
    pub(super) queued: Vec<Message>,
}

/// One turn, as far as it was followed.
struct Progress {
    begin: Begin,
    turn: Option<String>,
    last_event: Option<String>,
    stop: Stop,
    /// Whether the message has become a follow-up of a turn that was already at work.
    joined: bool,
}

/// What Ctrl-C has done so far.
#[derive(PartialEq, Eq)]
enum Stop {
    NotAsked,
    Asked,
}

enum Read {
    Done,
    /// The connection broke: come back to the same place.
    Cut,
    Leave,
}

impl<'a> Follower<'a> {
    pub(super) fn new(
        api: &'a Api,
        session: SessionId,
        screen: &'a mut Screen,
        keyboard: Keyboard,
    ) -> Self {
        let (shown, kept, queued) = (None, None, Vec::new());
        Self { api, session, screen, keyboard, shown, kept, queued }
    }

    /// Shows a turn to its end.
    pub(super) async fn follow(&mut self, begin: Begin) -> Result<Ended, Failure> {
        let mut progress = Progress::new(begin);
        let mut absence = Absence::none();
        loop {
            match self.open(&progress).await {
                Ok(response) if response.status() == StatusCode::NO_CONTENT => {
                    return Ok(Ended::Turn);
                }
                Ok(response) => {
                    if absence.answers() == Answers::Again {
                        self.screen.note("connected again");
                    }
                    match self.read(response, &mut progress).await {
                        Read::Done if progress.joined => {
                            // Somebody else has it at work, who will answer this as well.
                            self.screen.note("this goes to the answer that is under way");
                            progress = Progress::new(Begin::Resume);
                            continue;
                        }
                        Read::Done => {
                            self.settle_queued().await;
                            self.screen.end_turn();
                            return Ok(Ended::Turn);
                        }
                        Read::Leave => return Ok(Ended::Leave),
                        Read::Cut => {}
                    }
                }
                Err(Failure::Unreachable) => {}
                Err(refused) => return Err(refused),
            }
            let pause = match absence.goes_on() {
                Then::GiveUp => return Err(Failure::Unreachable),
                Then::Tell(pause) => {
                    self.screen.note("the connection is lost, trying again");
                    pause
                }
                Then::Wait(pause) => pause,
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.keyboard.interrupted() => return Ok(Ended::Leave),
            }
        }
    }

    /// Where it was left, or from the beginning. A message is sent again under its id, which makes one turn of it.
    async fn open(&self, progress: &Progress) -> Result<Response, Failure> {
        match progress {
            Progress { turn: Some(turn), last_event: Some(last), .. } => {
                self.api.continue_turn(turn, last).await
            }
            Progress { begin: Begin::Send(Message { text, id }), .. } => {
                self.api.send_message(&self.session, text, id).await
            }
            Progress { begin: Begin::Resume, .. } => self.api.resume(&self.session).await,
        }
    }

    async fn read(&mut self, response: Response, progress: &mut Progress) -> Read {
        progress.turn = turn_of(&response).or(progress.turn.take());
        self.shown.clone_from(&progress.turn);
        let mut decoder = SseDecoder::new(EVENT_BYTES);
        let mut body = response.bytes_stream();
        loop {
            // One message at a time is kept for later; further lines wait in the keyboard.
            let lines = if self.kept.is_none() { Lines::Read } else { Lines::Leave };
            let piece = tokio::select! {
                piece = body.next() => piece,
                typed = self.keyboard.meanwhile(lines) => match typed {
                    Typed::Line(text) => {
                        self.follow_up(text).await;
                        continue;
                    }
                    Typed::Interrupt if progress.stop == Stop::Asked => return Read::Leave,
                    Typed::Interrupt => {
                        progress.stop = Stop::Asked;
                        self.ask_to_stop().await;
                        continue;
                    }
                },
            };
            let Some(Ok(piece)) = piece else { return Read::Cut };
            decoder.push(&piece);
            loop {
                match decoder.next_event() {
                    Ok(None) => break,
                    Ok(Some(event)) if event.data == "[DONE]" => return Read::Done,
                    Ok(Some(event)) => {
                        // Chunks of newer servers are skipped, but count as seen.
                        if let Ok(chunk) = serde_json::from_str::<Chunk>(&event.data) {
                            progress.joined |= is_follow_up(&chunk);
                            self.forget_delivered(&chunk);
                            self.screen.show(&chunk);
                        }
                        progress.last_event = event.id.or(progress.last_event.take());
                    }
                    Err(_) => return Read::Cut,
                }
            }
        }
    }

    async fn ask_to_stop(&mut self) {
        self.screen.note("stopping; Ctrl-C again leaves");
        if self.api.cancel(&self.session).await.is_err() {
            self.screen.note("the server could not be told to stop");
        }
    }
}

impl Progress {
    fn new(begin: Begin) -> Self {
        Self { begin, turn: None, last_event: None, stop: Stop::NotAsked, joined: false }
    }
}

/// Whether a stream has only to say that its message went to a turn at work.
fn is_follow_up(chunk: &Chunk) -> bool {
    let Chunk::Start { message_metadata: Some(about), .. } = chunk else { return false };
    about.get("followUp").is_some()
}
