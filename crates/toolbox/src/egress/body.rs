//! A body taken in piece by piece, counted before and after unpacking, and cut at the caller's limit. Nothing is ever
//! held beyond that limit, whatever the server sends or claims to send.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;

use super::error::EgressError;

/// Text seldom packs better than 20:1; what unpacks to more than this was made to hurt.
const MAX_RATIO: usize = 100;
/// Below this a high ratio is harmless: a short page of blanks has one.
const RATIO_FLOOR: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentCoding {
    Plain,
    Gzip,
}

impl ContentCoding {
    pub(super) fn named(encoding: Option<&str>) -> Result<Self, EgressError> {
        match encoding.map(str::trim).unwrap_or_default().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            // Also a list such as `gzip, gzip`: nobody needs it, and each layer multiplies.
            _ => Err(EgressError::Encoding),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferSpace {
    Left,
    Full,
}

pub(super) struct BodyBuffer {
    received: usize,
    limit: usize,
    content: BodyContent,
}

enum BodyContent {
    Plain(BoundedBuffer),
    Gzip(Box<MultiGzDecoder<BoundedBuffer>>),
}

impl BodyBuffer {
    pub(super) fn new(packing: ContentCoding, limit: usize) -> Self {
        let bounded = BoundedBuffer { bytes: Vec::new(), limit, received: 0, overflow: None };
        let content = match packing {
            ContentCoding::Plain => BodyContent::Plain(bounded),
            ContentCoding::Gzip => BodyContent::Gzip(Box::new(MultiGzDecoder::new(bounded))),
        };
        Self { received: 0, limit, content }
    }

    /// Takes the next piece. `Full` means that the caller should stop reading.
    pub(super) fn push(&mut self, piece: &[u8]) -> Result<BufferSpace, EgressError> {
        self.received += piece.len();
        let written = match &mut self.content {
            BodyContent::Plain(bounded) => bounded.write_all(piece),
            BodyContent::Gzip(decoder) => {
                decoder.get_mut().received = self.received;
                // What is unpacked so far has to be seen now, for the ratio and the limit to be judged in time.
                decoder.write_all(piece).and_then(|()| decoder.flush())
            }
        };
        let bounded = self.bounded();
        match (&bounded.overflow, written) {
            (Some(Overflow::Ratio), _) => Err(EgressError::Inflates),
            (Some(Overflow::Limit), _) => Ok(BufferSpace::Full),
            (None, Err(_)) => Err(EgressError::Encoding),
            // Packed bytes that unpack to nothing would otherwise be read for ever.
            (None, Ok(())) if self.received > self.limit => Ok(BufferSpace::Full),
            (None, Ok(())) => Ok(BufferSpace::Left),
        }
    }

    pub(super) fn so_far(&self) -> &[u8] {
        &self.bounded().bytes
    }

    /// What was taken in. A packed body that was cut short gives what could be unpacked.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        match &mut self.content {
            BodyContent::Plain(bounded) => std::mem::take(&mut bounded.bytes),
            BodyContent::Gzip(decoder) => std::mem::take(&mut decoder.get_mut().bytes),
        }
    }

    fn bounded(&self) -> &BoundedBuffer {
        match &self.content {
            BodyContent::Plain(bounded) => bounded,
            BodyContent::Gzip(decoder) => decoder.get_ref(),
        }
    }
}

enum Overflow {
    Limit,
    Ratio,
}

/// Where unpacked bytes go. Its error stops the decoder in the middle of a piece, so one packed kilobyte cannot become
/// an unpacked megabyte first.
struct BoundedBuffer {
    bytes: Vec<u8>,
    limit: usize,
    received: usize,
    overflow: Option<Overflow>,
}

impl Write for BoundedBuffer {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let room = self.limit - self.bytes.len();
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        let packed = self.received;
        if packed > 0 && self.bytes.len() > RATIO_FLOOR && self.bytes.len() / packed > MAX_RATIO {
            self.overflow = Some(Overflow::Ratio);
        } else if piece.len() > room {
            self.overflow = Some(Overflow::Limit);
        }
        match self.overflow {
            Some(_) => Err(io::Error::other("enough")),
            None => Ok(piece.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).expect("memory takes every write");
        encoder.finish().expect("memory takes every write")
    }

    #[test]
    fn a_plain_body_is_cut_at_the_limit() {
        let mut body = BodyBuffer::new(ContentCoding::Plain, 10);
        assert_eq!(body.push(b"12345"), Ok(BufferSpace::Left));
        assert_eq!(body.push(b"67890"), Ok(BufferSpace::Left));
        assert_eq!(body.push(b"x"), Ok(BufferSpace::Full));
        assert_eq!(body.into_bytes(), b"1234567890");
    }

    #[test]
    fn a_packed_body_is_unpacked_in_any_pieces() {
        let text: Vec<u8> = (0..5000u32).flat_map(|n| n.to_string().into_bytes()).collect();
        for size in [1, 7, 4096] {
            let mut body = BodyBuffer::new(ContentCoding::Gzip, 100_000);
            for piece in packed(&text).chunks(size) {
                assert_eq!(body.push(piece), Ok(BufferSpace::Left));
            }
            assert_eq!(body.into_bytes(), text);
        }
    }

    #[test]
    fn a_body_that_unpacks_to_far_more_than_its_size_is_refused() {
        let bomb = packed(&vec![0; 20_000_000]);
        let mut body = BodyBuffer::new(ContentCoding::Gzip, 10_000_000);
        let refused = bomb.chunks(1024).find_map(|piece| body.push(piece).err());
        assert_eq!(refused, Some(EgressError::Inflates));
        assert!(body.into_bytes().len() < 300_000);
    }

    #[test]
    fn what_is_not_packed_as_it_says_is_an_error() {
        let mut body = BodyBuffer::new(ContentCoding::Gzip, 100);
        assert_eq!(body.push(b"this is not gzip at all"), Err(EgressError::Encoding));
        assert_eq!(ContentCoding::named(Some("gzip, gzip")), Err(EgressError::Encoding));
        assert_eq!(ContentCoding::named(Some("br")), Err(EgressError::Encoding));
        assert_eq!(ContentCoding::named(Some(" GZIP ")), Ok(ContentCoding::Gzip));
        assert_eq!(ContentCoding::named(None), Ok(ContentCoding::Plain));
    }
}
