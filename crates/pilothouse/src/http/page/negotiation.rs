//! Content negotiation: `accept`, `accept-encoding` and `if-none-match`.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Content encodings, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ContentEncoding {
    Brotli,
    Gzip,
    Identity,
}

impl ContentEncoding {
    /// The name in headers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Identity => "identity",
        }
    }

    /// The client's preferred encoding among these, which always include `Identity`.
    pub(crate) fn chosen(headers: &HeaderMap, among: impl Iterator<Item = Self>) -> Self {
        let accepted: Vec<_> = weighted_values(headers, header::ACCEPT_ENCODING).collect();
        let weight = |encoding: Self| {
            let of = |name: &str| {
                accepted
                    .iter()
                    .find(|(value, _)| value.eq_ignore_ascii_case(name))
                    .map(|value| value.1)
            };
            of(encoding.name()).or_else(|| of("*")).unwrap_or(match encoding {
                // Accepted when not mentioned, but with the lowest preference.
                Self::Identity => f32::MIN_POSITIVE,
                _ => 0.0,
            })
        };
        let mut best = (Self::Identity, 0.0);
        for encoding in among {
            let weight = weight(encoding);
            if weight > best.1 || (weight == best.1 && weight > 0.0 && encoding < best.0) {
                best = (encoding, weight);
            }
        }
        best.0
    }
}

/// Only clients that name HTML get the page: a program that accepts anything is better served with a 404.
pub(crate) fn wants_html(headers: &HeaderMap) -> bool {
    weighted_values(headers, header::ACCEPT)
        .any(|(value, weight)| value.eq_ignore_ascii_case("text/html") && weight > 0.0)
}

/// Whether the client already has the variant with this tag.
pub(crate) fn matches_etag(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    values(headers, header::IF_NONE_MATCH).any(|tag| {
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes()
    })
}

/// The values of a list with their weights: 1 by default, 0 for never.
fn weighted_values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = (&str, f32)> {
    values(headers, name).map(|value| {
        let mut pieces = value.split(';').map(str::trim);
        let value = pieces.next().unwrap_or_default();
        let weight = pieces.find_map(|piece| piece.strip_prefix("q=").or(piece.strip_prefix("Q=")));
        (value, weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
    })
}

fn values(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn the_client_chooses_the_encoding() {
        use ContentEncoding::{Brotli, Gzip, Identity};
        for (accept, chosen) in [
            ("gzip, deflate, br, zstd", Brotli),
            ("gzip", Gzip),
            ("GZIP", Gzip),
            ("br;q=0, gzip", Gzip),
            ("br;q=0.2, gzip;q=0.8", Gzip),
            ("br; q=0.000, gzip; Q=0", Identity),
            ("gzip;q=0.5, identity", Identity),
            ("*", Brotli),
            ("*;q=0.1, gzip", Gzip),
            ("br, *;q=0", Brotli),
            ("*;q=0", Identity),
            ("identity;q=0", Identity),
            ("identity;q=0, gzip", Gzip),
            ("br;q=many", Identity),
            ("br;q=NaN", Identity),
            ("deflate", Identity),
            ("", Identity),
        ] {
            let headers = headers(header::ACCEPT_ENCODING, accept);
            let all = [Identity, Gzip, Brotli];
            assert_eq!(ContentEncoding::chosen(&headers, all.into_iter()), chosen, "{accept}");
            assert_eq!(
                ContentEncoding::chosen(&headers, [Identity].into_iter()),
                Identity,
                "{accept}"
            );
        }
        assert_eq!(
            ContentEncoding::chosen(&HeaderMap::new(), [Identity, Brotli].into_iter()),
            Identity
        );
    }

    #[test]
    fn only_clients_that_name_html_get_the_page() {
        for (accept, wanted) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("application/json, Text/HTML;q=0.1", true),
            ("*/*", false),
            ("text/*", false),
            ("text/html;q=0", false),
            ("application/json", false),
        ] {
            assert_eq!(wants_html(&headers(header::ACCEPT, accept)), wanted, "{accept}");
        }
        assert!(!wants_html(&HeaderMap::new()));
    }

    #[test]
    fn a_tag_is_found_in_a_list_and_in_its_weak_form() {
        let etag = HeaderValue::from_static("\"a1\"");
        for (tags, found) in [
            ("\"a1\"", true),
            ("\"x\", W/\"a1\"", true),
            ("*", true),
            ("\"a\"", false),
            ("a1", false),
        ] {
            assert_eq!(matches_etag(&headers(header::IF_NONE_MATCH, tags), &etag), found, "{tags}");
        }
    }
}
