//! Valid paths, folder names and file ids.

use ports::files::SessionWorkspace;
use protocol::response::WorkspaceFile;
use protocol::text::hex;
use sha2::{Digest, Sha256};

use super::mime;

const PATH_BYTES: usize = 512;
const PART_BYTES: usize = 255;

/// The path, if it is valid. A leading `./` is dropped.
pub(crate) fn path_of(path: &str) -> Option<&str> {
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

/// A digest, so that no id can choose a folder name. The owner is not part of it: a session that is assigned to a user
/// keeps its files.
pub(crate) fn folder_name(session_workspace: &SessionWorkspace) -> String {
    format!("s-{}", hex(&Sha256::digest(session_workspace.session.as_str())[..20]))
}

pub(crate) fn described(
    session_workspace: &SessionWorkspace,
    path: &str,
    size_bytes: u64,
) -> WorkspaceFile {
    let digest = Sha256::digest(format!("{}\n{path}", session_workspace.session));
    let name = path.rsplit('/').next().unwrap_or(path);
    WorkspaceFile {
        file_id: format!("wf-{}", hex(&digest[..12])),
        path: path.to_owned(),
        name: name.to_owned(),
        mime_type: mime::of(name).to_owned(),
        size_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_valid() {
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
