//! A folder that is removed with everything in it.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use uuid::Uuid;

pub(crate) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// Below the system's folder for temporary files, readable only by this user.
    pub(crate) fn create() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("pilothouse-eval-{}", Uuid::new_v4()));
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .with_context(|| format!("could not create the folder {}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system, which cleans its temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
