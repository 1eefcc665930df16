//! Decodes a server-sent event stream from bytes in any chunking, in linear time and bounded memory: an event larger than
//! the limit is an error.

use bytes::{Buf, BytesMut};

/// An event with data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    pub id: Option<String>,
    pub name: Option<String>,
    pub data: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    #[error("an event is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the event stream is not UTF-8")]
    NotText,
}

#[derive(Debug)]
pub struct SseDecoder {
    buffer: BytesMut,
    /// How much of the buffer is known to contain no line end.
    scanned: usize,
    cap: usize,
    started: bool,
    /// The last line ended in CR; a following LF belongs to it.
    after_cr: bool,
    event: SseEvent,
    has_data: bool,
    size: usize,
}

impl SseDecoder {
    pub fn new(cap: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            cap,
            started: false,
            after_cr: false,
            event: SseEvent::default(),
            has_data: false,
            size: 0,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete event, if the buffer contains one.
    pub fn next_event(&mut self) -> Result<Option<SseEvent>, SseError> {
        loop {
            if self.after_cr && !self.buffer.is_empty() {
                if self.buffer[0] == b'\n' {
                    self.buffer.advance(1);
                }
                self.after_cr = false;
            }
            let Some(at) = memchr::memchr2(b'\n', b'\r', &self.buffer[self.scanned..]) else {
                self.scanned = self.buffer.len();
                if self.buffer.len() + self.size > self.cap {
                    return Err(SseError::TooLarge(self.cap));
                }
                return Ok(None);
            };
            let end = self.scanned + at;
            self.scanned = 0;
            let line = self.buffer.split_to(end);
            self.after_cr = self.buffer[0] == b'\r';
            self.buffer.advance(1);
            if let Some(event) = self.line(&line)? {
                return Ok(Some(event));
            }
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<SseEvent>, SseError> {
        let line =
            if self.started { line } else { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) };
        self.started = true;
        if line.is_empty() {
            self.size = 0;
            let event = std::mem::take(&mut self.event);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        self.size += line.len();
        if self.size > self.cap {
            return Err(SseError::TooLarge(self.cap));
        }
        let text = std::str::from_utf8(line).map_err(|_| SseError::NotText)?;
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "event" => self.event.name = Some(value.to_owned()),
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::new(1 << 20);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            while let Some(event) = decoder.next_event().expect("valid") {
                events.push(event);
            }
        }
        events
    }

    #[test]
    fn fields_comments_and_line_ends_follow_the_standard() {
        let stream = b"\xEF\xBB\xBF: hello\r\nid: 1\revent: x\ndata: a\r\ndata:b\n\n: ping\n\nid: 2\ndata\n\ndata: cut";
        let events = decode(&[stream]);
        assert_eq!(
            events,
            [
                SseEvent { id: Some("1".into()), name: Some("x".into()), data: "a\nb".into() },
                SseEvent { id: Some("2".into()), name: None, data: String::new() },
            ]
        );
    }

    #[test]
    fn an_endless_event_is_an_error() {
        let mut decoder = SseDecoder::new(1000);
        decoder.push(&[b'x'; 1001]);
        assert_eq!(decoder.next_event(), Err(SseError::TooLarge(1000)));
        let mut decoder = SseDecoder::new(1000);
        decoder.push("data: 0123456789\n".repeat(80).as_bytes());
        assert_eq!(decoder.next_event(), Err(SseError::TooLarge(1000)));
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            lines in prop::collection::vec("(data: [a-zä]{0,6}|id: [0-9]|: c|)", 0..20),
            ends in prop::collection::vec(0usize..3, 20),
            cuts in prop::collection::vec(0usize..200, 0..12),
        ) {
            let mut stream = Vec::new();
            for (line, end) in lines.iter().zip(ends) {
                stream.extend_from_slice(line.as_bytes());
                stream.extend_from_slice(["\n", "\r", "\r\n"][end].as_bytes());
            }
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|c| *c < stream.len()).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&stream[from..cut]);
                from = cut;
            }
            pieces.push(&stream[from..]);
            prop_assert_eq!(decode(&pieces), decode(&[&stream]));
        }
    }
}
