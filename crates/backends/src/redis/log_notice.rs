//! Messages on the channel of a task: a small header and the bytes of the segment.

use bytes::Bytes;
use protocol::{Segment, Seq};

use crate::live::LogEnd;

/// One byte for the kind, then the first and the last position, big-endian.
const HEADER: usize = 1 + 8 + 8;
const GREW: u8 = b'g';
const SEALED: u8 = b's';
const GONE: u8 = b'x';

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogNotice {
    Grew {
        segment: Segment,
        end: LogEnd,
    },
    /// The log was deleted, for example with its session.
    Gone,
}

pub(crate) fn grew_header(first: Seq, last: Seq, end: LogEnd) -> [u8; HEADER] {
    let kind = match end {
        LogEnd::Open => GREW,
        LogEnd::Sealed => SEALED,
    };
    header(kind, first, last)
}

pub(crate) fn gone() -> [u8; HEADER] {
    header(GONE, 0, 0)
}

/// `None` for messages of newer versions: followers find the data in the store.
pub(crate) fn parse(message: Vec<u8>) -> Option<LogNotice> {
    let (&kind, positions) = message.get(..HEADER)?.split_first()?;
    let (first, last) = positions.split_at(8);
    let first = Seq::from_be_bytes(first.try_into().ok()?);
    let last = Seq::from_be_bytes(last.try_into().ok()?);
    let end = match kind {
        GREW => LogEnd::Open,
        SEALED => LogEnd::Sealed,
        GONE => return Some(LogNotice::Gone),
        _ => return None,
    };
    if first == 0 || last < first {
        return None;
    }
    let bytes = Bytes::from(message).slice(HEADER..);
    Some(LogNotice::Grew { segment: Segment { first, last, bytes }, end })
}

fn header(kind: u8, first: Seq, last: Seq) -> [u8; HEADER] {
    let mut header = [kind; HEADER];
    header[1..9].copy_from_slice(&first.to_be_bytes());
    header[9..].copy_from_slice(&last.to_be_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_message_can_be_read() {
        let segment = Segment { first: 258, last: 70_000, bytes: Bytes::from_static(b"id: 258\n") };
        for end in [LogEnd::Open, LogEnd::Sealed] {
            let mut said = grew_header(258, 70_000, end).to_vec();
            said.extend_from_slice(&segment.bytes);
            assert_eq!(parse(said), Some(LogNotice::Grew { segment: segment.clone(), end }));
        }
        assert_eq!(parse(gone().to_vec()), Some(LogNotice::Gone));
    }

    #[test]
    fn garbage_is_ignored() {
        for garbage in [&b""[..], b"g", &[b'?'; 40], &[0; HEADER], &grew_header(5, 4, LogEnd::Open)]
        {
            assert_eq!(parse(garbage.to_vec()), None);
        }
    }
}
