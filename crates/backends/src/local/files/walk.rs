//! Lists all files of a workspace. Links are not followed, and the number of entries is limited.

use std::io;

use cap_std::fs::Dir;
use ports::files::SessionWorkspace;
use protocol::response::WorkspaceFile;

use super::names::{described, path_of};

/// Maximum number of entries read; a larger workspace is listed partially.
const ENTRIES: usize = 20_000;
const DEPTH: usize = 32;

/// Sorted by path. Only files that can be requested by the listed path.
pub(crate) fn files(
    workspace: &Dir,
    session_workspace: &SessionWorkspace,
) -> io::Result<Vec<WorkspaceFile>> {
    let mut walk = FileWalk { session_workspace, left: ENTRIES, found: Vec::new() };
    walk.folder(workspace, "", 0)?;
    walk.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(walk.found)
}

struct FileWalk<'a> {
    session_workspace: &'a SessionWorkspace,
    left: usize,
    found: Vec<WorkspaceFile>,
}

impl FileWalk<'_> {
    fn folder(&mut self, folder: &Dir, prefix: &str, depth: usize) -> io::Result<()> {
        for entry in folder.entries()? {
            if self.left == 0 {
                return Ok(());
            }
            self.left -= 1;
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = format!("{prefix}{name}");
            if path_of(&path).is_none() {
                continue;
            }
            // A file that is removed meanwhile is left out.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() {
                let Ok(metadata) = entry.metadata() else { continue };
                self.found.push(described(self.session_workspace, &path, metadata.len()));
            } else if kind.is_dir() && depth < DEPTH {
                let Ok(inner) = entry.open_dir() else { continue };
                self.folder(&inner, &format!("{path}/"), depth + 1)?;
            }
        }
        Ok(())
    }
}
