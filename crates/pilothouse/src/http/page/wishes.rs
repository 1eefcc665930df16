//! What a client would like to get: `accept`, `accept-encoding` and `if-none-match`.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// How the bytes of a file travel; the best one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
    Identity,
}

impl Encoding {
    /// The name in headers.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Identity => "identity",
        }
    }

    /// What a client likes best among these, of which `Identity` is always one.
    pub(super) fn chosen(headers: &HeaderMap, among: impl Iterator<Item = Self>) -> Self {
        let wishes: Vec<_> = wishes(headers, header::ACCEPT_ENCODING).collect();
        let weight = |encoding: Self| {
            let of = |name: &str| {
                wishes.iter().find(|(wish, _)| wish.eq_ignore_ascii_case(name)).map(|wish| wish.1)
            };
            of(encoding.name()).or_else(|| of("*")).unwrap_or(match encoding {
                // Whoever does not mention it takes it, but would rather have what is mentioned.
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

/// Only who names HTML wants a page: programs that take anything are better told that there is nothing.
pub(super) fn wants_html(headers: &HeaderMap) -> bool {
    wishes(headers, header::ACCEPT)
        .any(|(wish, weight)| wish.eq_ignore_ascii_case("text/html") && weight > 0.0)
}

/// Whether a client has the form with this tag already.
pub(super) fn has(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    values(headers, header::IF_NONE_MATCH).any(|tag| {
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes()
    })
}

/// The values of a list with the weight of each: 1 unless it says otherwise, and 0 for never.
fn wishes(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = (&str, f32)> {
    values(headers, name).map(|value| {
        let mut pieces = value.split(';').map(str::trim);
        let wish = pieces.next().unwrap_or_default();
        let weight = pieces.find_map(|piece| piece.strip_prefix("q=").or(piece.strip_prefix("Q=")));
        (wish, weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
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
    fn the_client_decides_how_a_file_travels() {
        use Encoding::{Brotli, Gzip, Identity};
        for (wish, chosen) in [
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
            let headers = headers(header::ACCEPT_ENCODING, wish);
            let all = [Identity, Gzip, Brotli];
            assert_eq!(Encoding::chosen(&headers, all.into_iter()), chosen, "{wish}");
            assert_eq!(Encoding::chosen(&headers, [Identity].into_iter()), Identity, "{wish}");
        }
        assert_eq!(Encoding::chosen(&HeaderMap::new(), [Identity, Brotli].into_iter()), Identity);
    }

    #[test]
    fn only_who_names_html_wants_a_page() {
        for (wish, wanted) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("application/json, Text/HTML;q=0.1", true),
            ("*/*", false),
            ("text/*", false),
            ("text/html;q=0", false),
            ("application/json", false),
        ] {
            assert_eq!(wants_html(&headers(header::ACCEPT, wish)), wanted, "{wish}");
        }
        assert!(!wants_html(&HeaderMap::new()));
    }

    #[test]
    fn a_tag_is_found_in_a_list_and_when_a_proxy_has_weakened_it() {
        let etag = HeaderValue::from_static("\"a1\"");
        for (tags, found) in [
            ("\"a1\"", true),
            ("\"x\", W/\"a1\"", true),
            ("*", true),
            ("\"a\"", false),
            ("a1", false),
        ] {
            assert_eq!(has(&headers(header::IF_NONE_MATCH, tags), &etag), found, "{tags}");
        }
    }
}
