//! Buffer for a response body: counts bytes before and after decompression, and truncates at the caller's limit. It never
//! holds more than the limit, whatever the server sends or announces.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;

use super::error::EgressError;

/// Text seldom compresses better than 20:1; a higher ratio than this is a decompression bomb.
const MAX_RATIO: usize = 100;
/// Below this size a high ratio is harmless: a short page of spaces has one.
const RATIO_FLOOR: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentCoding {
    Plain,
    Gzip,
}

impl ContentCoding {
    pub(crate) fn parse(encoding: Option<&str>) -> Result<Self, EgressError> {
        match encoding.map(str::trim).unwrap_or_default().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            // Lists such as `gzip, gzip` are refused too: each layer multiplies the size, and honest servers do not use them.
            _ => Err(EgressError::Encoding),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferSpace {
    Left,
    Full,
}

pub(crate) struct BodyBuffer {
    received: usize,
    limit: usize,
    content: BodyContent,
}

enum BodyContent {
    Plain(BoundedBuffer),
    Gzip(Box<MultiGzDecoder<BoundedBuffer>>),
}

impl BodyBuffer {
    pub(crate) fn new(coding: ContentCoding, limit: usize) -> Self {
        let bounded = BoundedBuffer { bytes: Vec::new(), limit, received: 0, overflow: None };
        let content = match coding {
            ContentCoding::Plain => BodyContent::Plain(bounded),
            ContentCoding::Gzip => BodyContent::Gzip(Box::new(MultiGzDecoder::new(bounded))),
        };
        Self { received: 0, limit, content }
    }

    /// Adds the next piece. On `Full` the caller must stop reading.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<BufferSpace, EgressError> {
        self.received += piece.len();
        let written = match &mut self.content {
            BodyContent::Plain(bounded) => bounded.write_all(piece),
            BodyContent::Gzip(decoder) => {
                decoder.get_mut().received = self.received;
                // Flushed so that the ratio and the limit are checked after every piece.
                decoder.write_all(piece).and_then(|()| decoder.flush())
            }
        };
        let bounded = self.bounded();
        match (&bounded.overflow, written) {
            (Some(Overflow::Ratio), _) => Err(EgressError::Inflates),
            (Some(Overflow::Limit), _) => Ok(BufferSpace::Full),
            (None, Err(_)) => Err(EgressError::Encoding),
            // Compressed bytes that expand to nothing would otherwise be read forever.
            (None, Ok(())) if self.received > self.limit => Ok(BufferSpace::Full),
            (None, Ok(())) => Ok(BufferSpace::Left),
        }
    }

    pub(crate) fn so_far(&self) -> &[u8] {
        &self.bounded().bytes
    }

    /// The body. Of a truncated compressed body, the part that could be decompressed.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
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

/// Receives decompressed bytes. Its error stops the decoder in the middle of a piece, before one compressed kilobyte can
/// expand to a megabyte.
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
        let compressed = self.received;
        if compressed > 0
            && self.bytes.len() > RATIO_FLOOR
            && self.bytes.len() / compressed > MAX_RATIO
        {
            self.overflow = Some(Overflow::Ratio);
        } else if piece.len() > room {
            self.overflow = Some(Overflow::Limit);
        }
        match self.overflow {
            Some(_) => Err(io::Error::other("the body limit is reached")),
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

    fn compressed(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).expect("a vector accepts every write");
        encoder.finish().expect("a vector accepts every write")
    }

    #[test]
    fn a_plain_body_is_truncated_at_the_limit() {
        let mut body = BodyBuffer::new(ContentCoding::Plain, 10);
        assert_eq!(body.push(b"12345"), Ok(BufferSpace::Left));
        assert_eq!(body.push(b"67890"), Ok(BufferSpace::Left));
        assert_eq!(body.push(b"x"), Ok(BufferSpace::Full));
        assert_eq!(body.into_bytes(), b"1234567890");
    }

    #[test]
    fn a_compressed_body_is_decompressed_in_any_pieces() {
        let text: Vec<u8> = (0..5000u32).flat_map(|n| n.to_string().into_bytes()).collect();
        for size in [1, 7, 4096] {
            let mut body = BodyBuffer::new(ContentCoding::Gzip, 100_000);
            for piece in compressed(&text).chunks(size) {
                assert_eq!(body.push(piece), Ok(BufferSpace::Left));
            }
            assert_eq!(body.into_bytes(), text);
        }
    }

    #[test]
    fn a_body_that_expands_to_far_more_than_its_size_is_refused() {
        let bomb = compressed(&vec![0; 20_000_000]);
        let mut body = BodyBuffer::new(ContentCoding::Gzip, 10_000_000);
        let refused = bomb.chunks(1024).find_map(|piece| body.push(piece).err());
        assert_eq!(refused, Some(EgressError::Inflates));
        assert!(body.into_bytes().len() < 300_000);
    }

    #[test]
    fn a_wrong_or_unknown_content_coding_is_an_error() {
        let mut body = BodyBuffer::new(ContentCoding::Gzip, 100);
        assert_eq!(body.push(b"this is not gzip at all"), Err(EgressError::Encoding));
        assert_eq!(ContentCoding::parse(Some("gzip, gzip")), Err(EgressError::Encoding));
        assert_eq!(ContentCoding::parse(Some("br")), Err(EgressError::Encoding));
        assert_eq!(ContentCoding::parse(Some(" GZIP ")), Ok(ContentCoding::Gzip));
        assert_eq!(ContentCoding::parse(None), Ok(ContentCoding::Plain));
    }
}
