//! Turns the events of a wire into what a model says. Here, once for all formats, is the law that a
//! stream ends in exactly one `Finished` or one error.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use ports::model::{ModelError, ModelEvent, ModelStream};
use protocol::sse::SseEvent;

use super::http::{self, BodyFormat, ProviderResponse};

/// How long the bookkeeping after a whole answer (its usage, its end mark) is waited for.
const TAIL: Duration = Duration::from_secs(5);

/// Understands one wire format.
pub(super) trait EventReader: Send + 'static {
    /// Adds what the event says to `said`.
    fn read(
        &mut self,
        event: &SseEvent,
        redactor: &http::SecretRedactor,
        said: &mut VecDeque<ModelEvent>,
    ) -> Result<ReadProgress, ModelError>;

    /// Called once, when the answer is whole: the `Finished`, and whatever was held back before it.
    fn finish(&mut self, said: &mut VecDeque<ModelEvent>) -> Result<(), ModelError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadProgress {
    More,
    /// Nothing more will be said; the usage or the end mark may still come.
    Complete,
    /// The end mark.
    Ended,
}

pub(super) fn read<R: EventReader>(incoming: ProviderResponse, reader: R) -> ModelStream {
    let reading = ResponseReading {
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

struct ResponseReading<R> {
    /// Gone when the answer has ended, and the connection with it.
    incoming: Option<ProviderResponse>,
    reader: R,
    said: VecDeque<ModelEvent>,
    whole: bool,
    failed: Option<ModelError>,
}

impl<R: EventReader> ResponseReading<R> {
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
                Ok(ReadProgress::More) => {}
                Ok(ReadProgress::Complete) => self.whole = true,
                Ok(ReadProgress::Ended) => {
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

async fn step<R: EventReader>(
    incoming: &mut ProviderResponse,
    reader: &mut R,
    said: &mut VecDeque<ModelEvent>,
    whole: bool,
) -> Result<ReadProgress, ModelError> {
    let next = if whole {
        // The answer is complete: a server that now falls silent or breaks off spoils nothing.
        match tokio::time::timeout(TAIL, incoming.next_event()).await {
            Ok(Ok(Some(event))) => Some(event),
            Ok(Ok(None) | Err(_)) | Err(_) => return Ok(ReadProgress::Ended),
        }
    } else {
        incoming.next_event().await?
    };
    match next {
        Some(event) => {
            let heard = reader.read(&event, incoming.redactor(), said)?;
            // A document that was understood has no end mark to wait for.
            let ended = heard == ReadProgress::Complete && incoming.form() == BodyFormat::Json;
            Ok(if ended { ReadProgress::Ended } else { heard })
        }
        None if incoming.form() == BodyFormat::Json => Err(http::broken("it is not a completion")),
        None => Err(http::cut()),
    }
}
