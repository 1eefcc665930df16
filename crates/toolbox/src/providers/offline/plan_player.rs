//! Plays a plan as a stream of events. Without a delay there is no timer and next to no work
//! between two deltas, because benchmarks measure everything around this.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use ports::model::{ModelError, ModelEvent, ModelStream, StopReason};
use protocol::CallId;
use protocol::usage::Usage;

use super::command::StreamCommand;
use super::plan::PlanStep;

/// Events after which the other tasks of the thread get a turn.
const COURTESY: usize = 128;
/// The usual rule of thumb.
const CHARS_PER_TOKEN: u64 = 4;
/// Pieces the arguments of a call are streamed in.
const ARGUMENT_PIECES: usize = 4;

/// Pseudo text for `/stream`, ASCII so that bytes are characters.
const TEXT: &str = "The tide comes in and the tide goes out, and the pilot keeps the log. ";

pub(super) fn play(parts: Vec<PlanStep>, prompt_chars: usize) -> ModelStream {
    let player = PlanPlayer {
        parts: parts.into(),
        ready: VecDeque::new(),
        streaming: None,
        calls: 0,
        said_chars: 0,
        prompt_chars: prompt_chars as u64,
        since_courtesy: 0,
    };
    stream::unfold(
        player,
        |mut player| async move { player.next().await.map(|event| (event, player)) },
    )
    .fuse()
    .boxed()
}

struct PlanPlayer {
    parts: VecDeque<PlanStep>,
    ready: VecDeque<ModelEvent>,
    streaming: Option<Streaming>,
    calls: usize,
    said_chars: u64,
    prompt_chars: u64,
    since_courtesy: usize,
}

/// A `/stream` that is under way.
struct Streaming {
    text: String,
    sent: usize,
    deltas: StreamCommand,
}

impl PlanPlayer {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        self.since_courtesy += 1;
        if self.since_courtesy >= COURTESY {
            self.since_courtesy = 0;
            tokio::task::yield_now().await;
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(streaming) = &mut self.streaming {
                if let Some(delta) = streaming.next().await {
                    self.said_chars += delta.len() as u64;
                    return Some(Ok(ModelEvent::Text(delta)));
                }
                self.streaming = None;
            }
            match self.parts.pop_front()? {
                PlanStep::Stream(deltas) => self.streaming = Some(Streaming::new(deltas)),
                PlanStep::Fail(kind) => {
                    self.parts.clear();
                    return Some(Err(ModelError::new(
                        kind,
                        "The offline pilot failed as requested.",
                    )));
                }
                PlanStep::Say(text) => self.words(&text, ModelEvent::Text),
                PlanStep::Think(text) => self.words(&text, ModelEvent::Reasoning),
                PlanStep::Call { name, arguments } => self.call(name, &arguments),
                PlanStep::Finish(reason) => self.finish(reason),
            }
        }
    }

    fn finish(&mut self, reason: StopReason) {
        let usage = Usage {
            prompt_tokens: self.prompt_chars / CHARS_PER_TOKEN,
            completion_tokens: self.said_chars / CHARS_PER_TOKEN,
            ..Usage::default()
        };
        self.ready.push_back(ModelEvent::Finished { reason, usage, provider_state: None });
    }

    fn words(&mut self, text: &str, event: fn(String) -> ModelEvent) {
        self.said_chars += text.chars().count() as u64;
        let words = text.split_inclusive(char::is_whitespace).map(str::to_owned);
        self.ready.extend(words.map(event));
    }

    fn call(&mut self, name: String, arguments: &str) {
        let index = self.calls;
        self.calls += 1;
        let chars: Vec<char> = arguments.chars().collect();
        self.said_chars += chars.len() as u64;
        let id = CallId(format!("call_{}", CallId::fresh()));
        self.ready.push_back(ModelEvent::ToolCall { index, id, name });
        let pieces = chars.chunks(chars.len().div_ceil(ARGUMENT_PIECES).max(1));
        self.ready.extend(
            pieces.map(|piece| ModelEvent::ToolInput { index, delta: piece.iter().collect() }),
        );
    }
}

impl Streaming {
    fn new(deltas: StreamCommand) -> Self {
        // Long enough that a delta can be cut from any place of the first round.
        let text = TEXT.repeat(deltas.size.div_ceil(TEXT.len()) + 1);
        Self { text, sent: 0, deltas }
    }

    async fn next(&mut self) -> Option<String> {
        if self.sent == self.deltas.count {
            return None;
        }
        if self.deltas.delay > Duration::ZERO {
            tokio::time::sleep(self.deltas.delay).await;
        }
        let from = self.sent * self.deltas.size % TEXT.len();
        self.sent += 1;
        Some(self.text[from..from + self.deltas.size].to_owned())
    }
}
