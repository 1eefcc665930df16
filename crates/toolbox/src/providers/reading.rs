//! Turns the events of a wire into what a model says. Here, once for all formats, is the law that a
//! stream ends in exactly one `Finished` or one error.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use ports::model::{ModelError, ModelEvent, ModelStream};
use protocol::sse::SseEvent;

use super::http::{self, Form, Incoming};

/// How long the bookkeeping after a whole answer (its usage, its end mark) is waited for.
const TAIL: Duration = Duration::from_secs(5);

/// Understands one wire format.
pub(super) trait Reader: Send + 'static {
    /// Adds what the event says to `said`.
    fn read(
        &mut self,
        event: &SseEvent,
        censor: &http::Censor,
        said: &mut VecDeque<ModelEvent>,
    ) -> Result<Heard, ModelError>;

    /// Called once, when the answer is whole: the `Finished`, and whatever was held back before it.
    fn finish(&mut self, said: &mut VecDeque<ModelEvent>) -> Result<(), ModelError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    More,
    /// Nothing more will be said; the usage or the end mark may still come.
    Whole,
    /// The end mark.
    End,
}

pub(super) fn read<R: Reader>(incoming: Incoming, reader: R) -> ModelStream {
    let reading = Reading {
        incoming: Some(incoming),
        reader,
        said: VecDeque::new(),
        whole: false,
        failed: None,
    };
    stream::unfold(reading, |mut reading| async move {
        reading.next().await.map(|event| (event, reading))
    })
    .fuse()
    .boxed()
}

struct Reading<R> {
    /// Gone when the answer has ended, and the connection with it.
    incoming: Option<Incoming>,
    reader: R,
    said: VecDeque<ModelEvent>,
    whole: bool,
    failed: Option<ModelError>,
}

impl<R: Reader> Reading<R> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.said.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.failed.take() {
                return Some(Err(error));
            }
            let incoming = self.incoming.as_mut()?;
            match step(incoming, &mut self.reader, &mut self.said, self.whole).await {
                Ok(Heard::More) => {}
                Ok(Heard::Whole) => self.whole = true,
                Ok(Heard::End) => {
                    self.incoming = None;
                    self.failed = self.reader.finish(&mut self.said).err();
                }
                Err(error) => {
                    // What the event said before its fault is still shown, then the fault.
                    self.incoming = None;
                    self.failed = Some(error);
                }
            }
        }
    }
}

async fn step<R: Reader>(
    incoming: &mut Incoming,
    reader: &mut R,
    said: &mut VecDeque<ModelEvent>,
    whole: bool,
) -> Result<Heard, ModelError> {
    let next = if whole {
        // The answer is complete: a server that now falls silent or breaks off spoils nothing.
        match tokio::time::timeout(TAIL, incoming.next_event()).await {
            Ok(Ok(Some(event))) => Some(event),
            Ok(Ok(None) | Err(_)) | Err(_) => return Ok(Heard::End),
        }
    } else {
        incoming.next_event().await?
    };
    match next {
        Some(event) => {
            let heard = reader.read(&event, incoming.censor(), said)?;
            // A document that was understood has no end mark to wait for.
            let ended = heard == Heard::Whole && incoming.form() == Form::Json;
            Ok(if ended { Heard::End } else { heard })
        }
        None if incoming.form() == Form::Json => Err(http::broken("it is not a completion")),
        None => Err(http::cut()),
    }
}
