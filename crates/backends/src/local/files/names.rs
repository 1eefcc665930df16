//! What things are called: paths that are fit to use, folders that no id can choose, ids of files.

use ports::files::SessionWorkspace;
use protocol::response::WorkspaceFile;
use sha2::{Digest, Sha256};

use super::mime;

const PATH_BYTES: usize = 512;
const PART_BYTES: usize = 255;

/// The path, if it is one that may be used. `./` in front is forgiven, everything else is taken as it is.
pub(super) fn path_of(path: &str) -> Option<&str> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let usable = path.len() <= PATH_BYTES
        && path.split('/').all(|part| {
            !part.is_empty()
                && part.len() <= PART_BYTES
                && part != "."
                && part != ".."
                && !part.contains(|c: char| c.is_control() || c == '\\')
        });
    usable.then_some(path)
}

/// A digest, so that no id can name a folder of its choice. The owner is not part of it: a session that
/// is claimed by a user keeps its files.
pub(super) fn folder_name(place: &SessionWorkspace) -> String {
    format!("s-{}", hex(&Sha256::digest(place.session.as_str()), 40))
}

pub(super) fn described(place: &SessionWorkspace, path: &str, size_bytes: u64) -> WorkspaceFile {
    let digest = Sha256::digest(format!("{}\n{path}", place.session));
    let name = path.rsplit('/').next().unwrap_or(path);
    WorkspaceFile {
        file_id: format!("wf-{}", hex(&digest, 24)),
        path: path.to_owned(),
        name: name.to_owned(),
        mime_type: mime::of(name).to_owned(),
        size_bytes,
    }
}

fn hex(digest: &[u8], digits: usize) -> String {
    digest.iter().take(digits / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_used() {
        for path in ["a", "a/b.txt", "ä ö/ü", ".hidden", "a..b", "./a"] {
            assert!(path_of(path).is_some(), "{path:?}");
        }
        let long = "x".repeat(256);
        for path in [
            "", "/a", "a//b", "a/", "..", "a/../b", "./../a", ".", "a/./b", "a\0b", "a\nb",
            "c:\\d", &long,
        ] {
            assert!(path_of(path).is_none(), "{path:?}");
        }
    }
}
