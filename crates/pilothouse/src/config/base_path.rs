//! The path under which a proxy serves this server.

use super::value::SettingValue;

/// The first path segments of the server's routes. Paths below them never belong to the page, and a base path that started
/// with one of them would hide it.
pub(crate) const ROUTES: [&str; 4] = ["api", "assets", "health", "metrics"];

/// `/pilot`, without a trailing slash; empty for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BasePath(String);

impl BasePath {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The rest of a path below this one.
    pub(crate) fn strip<'a>(&self, path: &'a str) -> Option<&'a str> {
        match path.strip_prefix(&self.0)? {
            "" => Some("/"),
            rest if rest.starts_with('/') => Some(rest),
            _ => None,
        }
    }
}

impl SettingValue for BasePath {
    const KIND: &'static str = "path";

    fn read(text: &str) -> Result<Self, &'static str> {
        let expected = "a path such as /pilot, of letters, digits, `-`, `_`, `.` and `~`, that does not begin with /api, /assets, /health or /metrics";
        let path = text.strip_suffix('/').unwrap_or(text);
        if path.is_empty() {
            return Ok(Self::default());
        }
        let segments: Vec<&str> = path.strip_prefix('/').ok_or(expected)?.split('/').collect();
        let is_plain = |segment: &&str| {
            !matches!(*segment, "" | "." | "..")
                && segment
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
        };
        let is_good = segments.iter().all(is_plain) && !ROUTES.contains(&segments[0]);
        if is_good { Ok(Self(path.to_owned())) } else { Err(expected) }
    }

    fn shown(&self) -> String {
        format!("{}/", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_path_is_plain_and_hides_no_route() {
        for (text, path) in
            [("/", ""), ("/pilot", "/pilot"), ("/pilot/", "/pilot"), ("/a/b.c", "/a/b.c")]
        {
            assert_eq!(BasePath::read(text).as_ref().map(BasePath::as_str), Ok(path), "{text}");
        }
        for text in [
            "pilot", "//", "//pilot", "/a//b", "/a/../b", "/a b", "/a?b", "/\"", "/api", "/api/x",
            "/assets",
        ] {
            assert!(BasePath::read(text).is_err(), "{text}");
        }
        for route in ROUTES {
            let refusal = BasePath::read(&format!("/{route}")).expect_err(route);
            assert!(refusal.contains(&format!("/{route}")), "{route}: {refusal}");
        }
    }

    #[test]
    fn only_whole_segments_are_stripped() {
        let base = BasePath::read("/pilot").expect("a path");
        for (path, rest) in [
            ("/pilot", Some("/")),
            ("/pilot/", Some("/")),
            ("/pilot/api/x", Some("/api/x")),
            ("/pilothouse", None),
            ("/api/pilot", None),
        ] {
            assert_eq!(base.strip(path), rest, "{path}");
        }
    }
}
