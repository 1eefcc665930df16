//! Converts the events of a provider response to model events. Guarantees, for all wire formats, that a stream ends with
//! exactly one `Finished` or one error.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use ports::model::{ModelError, ModelEvent, ModelStream};
use protocol::sse::SseEvent;

use super::http::{self, BodyFormat, ProviderResponse};

/// How long to wait for the usage and the end marker after a complete response.
const TRAILER_TIMEOUT: Duration = Duration::from_secs(5);

/// Parses the events of one wire format.
pub(crate) trait EventReader: Send + 'static {
    /// Appends the model events of one server-sent event to `pending`.
    fn read(
        &mut self,
        event: &SseEvent,
        redactor: &http::SecretRedactor,
        pending: &mut VecDeque<ModelEvent>,
    ) -> Result<ReadProgress, ModelError>;

    /// Called once, after a complete response: appends held-back events and `Finished`.
    fn finish(&mut self, pending: &mut VecDeque<ModelEvent>) -> Result<(), ModelError>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadProgress {
    More,
    /// The response is complete; the usage or the end marker may still follow.
    Complete,
    /// The end marker was read.
    Ended,
}

pub(crate) fn read<R: EventReader>(incoming: ProviderResponse, reader: R) -> ModelStream {
    let reading = ResponseReading {
        incoming: Some(incoming),
        reader,
        pending: VecDeque::new(),
        complete: false,
        failed: None,
    };
    stream::unfold(reading, |mut reading| async move {
        reading.next().await.map(|event| (event, reading))
    })
    .fuse()
    .boxed()
}

struct ResponseReading<R> {
    /// `None` after the end of the response, which also closes the connection.
    incoming: Option<ProviderResponse>,
    reader: R,
    pending: VecDeque<ModelEvent>,
    complete: bool,
    failed: Option<ModelError>,
}

impl<R: EventReader> ResponseReading<R> {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.failed.take() {
                return Some(Err(error));
            }
            let incoming = self.incoming.as_mut()?;
            match step(incoming, &mut self.reader, &mut self.pending, self.complete).await {
                Ok(ReadProgress::More) => {}
                Ok(ReadProgress::Complete) => self.complete = true,
                Ok(ReadProgress::Ended) => {
                    self.incoming = None;
                    self.failed = self.reader.finish(&mut self.pending).err();
                }
                Err(error) => {
                    // Model events that were parsed before the error are delivered first.
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
    pending: &mut VecDeque<ModelEvent>,
    complete: bool,
) -> Result<ReadProgress, ModelError> {
    let next = if complete {
        // The response is complete, so a timeout or a lost connection no longer matters.
        match tokio::time::timeout(TRAILER_TIMEOUT, incoming.next_event()).await {
            Ok(Ok(Some(event))) => Some(event),
            Ok(Ok(None) | Err(_)) | Err(_) => return Ok(ReadProgress::Ended),
        }
    } else {
        incoming.next_event().await?
    };
    match next {
        Some(event) => {
            let progress = reader.read(&event, incoming.redactor(), pending)?;
            // A JSON document has no end marker to wait for.
            let ended = progress == ReadProgress::Complete && incoming.form() == BodyFormat::Json;
            Ok(if ended { ReadProgress::Ended } else { progress })
        }
        None if incoming.form() == BodyFormat::Json => Err(http::broken("it is not a completion")),
        None => Err(http::incomplete()),
    }
}
