//! Parses and writes `data:` URIs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

pub(crate) struct DataUri {
    pub(crate) media_type: String,
    pub(crate) bytes: Bytes,
}

/// `None` if the URI is invalid or its content is longer than `limit` bytes.
pub(crate) fn parse(uri: &str, limit: usize) -> Option<DataUri> {
    let (head, content) = uri.strip_prefix("data:")?.split_once(',')?;
    // Percent encoding, the longest form, takes three characters per byte.
    if content.len() > limit.saturating_mul(3) {
        return None;
    }
    let (head, is_base64) = match head.strip_suffix(";base64") {
        Some(head) => (head, true),
        None => (head, false),
    };
    let bytes = match is_base64 {
        true => STANDARD.decode(content.trim()).ok()?,
        false => percent_decode(content)?,
    };
    let media_type = head.split(';').next().map(str::trim).filter(|kind| !kind.is_empty());
    let media_type = media_type.unwrap_or("text/plain").to_ascii_lowercase();
    (bytes.len() <= limit).then(|| DataUri { media_type, bytes: bytes.into() })
}

pub(crate) fn write(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(bytes))
}

fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(match byte {
            b'%' => (hex(rest.next()?)? * 16 + hex(rest.next()?)?) as u8,
            byte => byte,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_and_percent_encoded_uris_are_parsed() {
        for (uri, media_type, content) in [
            ("data:text/plain;base64,SGVsbG8=", "text/plain", "Hello"),
            ("data:,a%20b", "text/plain", "a b"),
            ("data:text/CSV;charset=utf-8,a%2Cb", "text/csv", "a,b"),
        ] {
            let read = parse(uri, 100).expect(uri);
            assert_eq!(
                (read.media_type.as_str(), &read.bytes[..]),
                (media_type, content.as_bytes())
            );
        }
    }

    #[test]
    fn an_invalid_or_oversized_uri_is_rejected() {
        for uri in ["data:text/plain", "data:;base64,%%", "data:,%2", "data:,%zz", "text/plain,x"] {
            assert!(parse(uri, 100).is_none(), "{uri}");
        }
        assert!(parse("data:,12345", 4).is_none());
        assert!(parse(&write("text/plain", &[7; 100]), 100).is_some());
    }
}
