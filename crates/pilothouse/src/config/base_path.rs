//! The path that the server is reached below, for a proxy that gives it a part of its addresses.

use super::value::Value;

/// Where the routes of the server begin. What is below them is never an address of the page, and a base path that began
/// with one of them would hide it.
pub(crate) const ROUTES: [&str; 4] = ["api", "assets", "health", "metrics"];

/// `/pilot`, without a slash at its end; empty when the server has the whole host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BasePath(String);

impl BasePath {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// What is left of a path that lies below this one.
    pub(crate) fn strip<'a>(&self, path: &'a str) -> Option<&'a str> {
        match path.strip_prefix(&self.0)? {
            "" => Some("/"),
            rest if rest.starts_with('/') => Some(rest),
            _ => None,
        }
    }
}

impl Value for BasePath {
    const KIND: &'static str = "path";

    fn read(text: &str) -> Result<Self, &'static str> {
        let wanted = "a path such as /pilot, of letters, digits, `-`, `_`, `.` and `~`, that does not begin with /api, /assets, /health or /metrics";
        let path = text.strip_suffix('/').unwrap_or(text);
        if path.is_empty() {
            return Ok(Self::default());
        }
        let segments: Vec<&str> = path.strip_prefix('/').ok_or(wanted)?.split('/').collect();
        let is_plain = |segment: &&str| {
            !matches!(*segment, "" | "." | "..")
                && segment
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
        };
        let is_good = segments.iter().all(is_plain) && !ROUTES.contains(&segments[0]);
        if is_good { Ok(Self(path.to_owned())) } else { Err(wanted) }
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
    fn only_whole_segments_are_taken_off() {
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
