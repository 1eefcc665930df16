//! Plays a plan as a stream of model events. Without a delay it uses no timer and does almost no work between two deltas,
//! because benchmarks measure everything around it.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use ports::model::{ModelError, ModelEvent, ModelStream, StopReason};
use protocol::CallId;
use protocol::usage::Usage;

use super::command::StreamCommand;
use super::plan::PlanStep;

/// Events after which the task yields to the other tasks of the thread.
const YIELD_INTERVAL: usize = 128;
/// Rule of thumb for English text.
const CHARS_PER_TOKEN: u64 = 4;
/// Number of pieces in which the arguments of a call are streamed.
const ARGUMENT_PIECES: usize = 4;

/// Filler text for `/stream`; ASCII, so that bytes are characters.
const TEXT: &str = "The tide comes in and the tide goes out, and the pilot keeps the log. ";

pub(crate) fn play(steps: Vec<PlanStep>, prompt_chars: usize) -> ModelStream {
    let player = PlanPlayer {
        steps: steps.into(),
        ready: VecDeque::new(),
        streaming: None,
        calls: 0,
        output_chars: 0,
        prompt_chars: prompt_chars as u64,
        since_yield: 0,
    };
    stream::unfold(
        player,
        |mut player| async move { player.next().await.map(|event| (event, player)) },
    )
    .fuse()
    .boxed()
}

struct PlanPlayer {
    steps: VecDeque<PlanStep>,
    ready: VecDeque<ModelEvent>,
    streaming: Option<Streaming>,
    calls: usize,
    output_chars: u64,
    prompt_chars: u64,
    since_yield: usize,
}

/// A `/stream` command in progress.
struct Streaming {
    text: String,
    sent: usize,
    deltas: StreamCommand,
}

impl PlanPlayer {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        self.since_yield += 1;
        if self.since_yield >= YIELD_INTERVAL {
            self.since_yield = 0;
            tokio::task::yield_now().await;
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(streaming) = &mut self.streaming {
                if let Some(delta) = streaming.next().await {
                    self.output_chars += delta.len() as u64;
                    return Some(Ok(ModelEvent::Text(delta)));
                }
                self.streaming = None;
            }
            match self.steps.pop_front()? {
                PlanStep::Stream(deltas) => self.streaming = Some(Streaming::new(deltas)),
                PlanStep::Fail(kind) => {
                    self.steps.clear();
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
            completion_tokens: self.output_chars / CHARS_PER_TOKEN,
            ..Usage::default()
        };
        self.ready.push_back(ModelEvent::Finished { reason, usage, provider_state: None });
    }

    fn words(&mut self, text: &str, event: fn(String) -> ModelEvent) {
        self.output_chars += text.chars().count() as u64;
        let words = text.split_inclusive(char::is_whitespace).map(str::to_owned);
        self.ready.extend(words.map(event));
    }

    fn call(&mut self, name: String, arguments: &str) {
        let index = self.calls;
        self.calls += 1;
        let chars: Vec<char> = arguments.chars().collect();
        self.output_chars += chars.len() as u64;
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
        // Long enough to take a delta from any offset within the first repetition.
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
