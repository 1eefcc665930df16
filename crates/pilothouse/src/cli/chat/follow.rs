//! Following one turn to its end, through lost connections and restarts of the server.

use std::time::Duration;

use futures::StreamExt;
use protocol::sse::Decoder;
use protocol::{Chunk, MessageId, SessionId};
use reqwest::{Response, StatusCode};
use tokio::time::Instant;

use super::api::{Api, Failure};
use super::keyboard::Keyboard;
use super::screen::Screen;

/// How long a server may be away before we give up on it.
const GIVE_UP: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// Larger events are not ours.
const EVENT_BYTES: usize = 16 * 1024 * 1024;

/// How a turn is come by.
pub(super) enum Begin {
    Send {
        text: String,
        id: MessageId,
    },
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
    api: &'a Api,
    session: SessionId,
    pub(super) screen: &'a mut Screen,
    pub(super) keyboard: Keyboard,
}

/// One turn, as far as it was followed.
struct Progress {
    begin: Begin,
    turn: Option<String>,
    last_event: Option<String>,
    stop: Stop,
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
        Self { api, session, screen, keyboard }
    }

    /// Shows a turn to its end.
    pub(super) async fn follow(&mut self, begin: Begin) -> Result<Ended, Failure> {
        let mut progress = Progress { begin, turn: None, last_event: None, stop: Stop::NotAsked };
        let mut away_since: Option<Instant> = None;
        let mut pause = FIRST_PAUSE;
        loop {
            match self.open(&progress).await {
                Ok(response) if response.status() == StatusCode::NO_CONTENT => {
                    return Ok(Ended::Turn);
                }
                Ok(response) => {
                    if away_since.take().is_some() {
                        self.screen.note("connected again");
                    }
                    pause = FIRST_PAUSE;
                    match self.read(response, &mut progress).await {
                        Read::Done => {
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
            let since = *away_since.get_or_insert_with(Instant::now);
            if since.elapsed() > GIVE_UP {
                return Err(Failure::Unreachable);
            }
            if pause == FIRST_PAUSE {
                self.screen.note("the connection is lost, trying again");
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.keyboard.interrupted() => return Ok(Ended::Leave),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Where it was left, or from the beginning. A message is sent again under its id, which makes one turn of it.
    async fn open(&self, progress: &Progress) -> Result<Response, Failure> {
        match progress {
            Progress { turn: Some(turn), last_event: Some(last), .. } => {
                self.api.continue_turn(turn, last).await
            }
            Progress { begin: Begin::Send { text, id }, .. } => {
                self.api.send_message(&self.session, text, id.as_str()).await
            }
            Progress { begin: Begin::Resume, .. } => self.api.resume(&self.session).await,
        }
    }

    async fn read(&mut self, response: Response, progress: &mut Progress) -> Read {
        let turn = response.headers().get("x-turn-id").and_then(|turn| turn.to_str().ok());
        progress.turn = turn.map(str::to_owned).or(progress.turn.take());
        let mut decoder = Decoder::new(EVENT_BYTES);
        let mut body = response.bytes_stream();
        loop {
            let piece = tokio::select! {
                piece = body.next() => piece,
                () = self.keyboard.interrupted() => match progress.stop {
                    Stop::Asked => return Read::Leave,
                    Stop::NotAsked => {
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
