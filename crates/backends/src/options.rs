//! Which backend to use, and where it keeps its things.

use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Options {
    pub backend: BackendOptions,
    /// The key that protects stored secrets. Once a store has been opened with one, it opens with no other.
    pub encryption_key: Option<String>,
    /// Turns every in-memory wake-up off, to prove that they are only hints: everything still happens, on
    /// the next look.
    pub deaf: bool,
}

#[derive(Clone, Debug)]
pub enum BackendOptions {
    /// Everything in one folder of this machine, for one process.
    Embedded { data: PathBuf },
}

impl Options {
    pub fn embedded(data: impl Into<PathBuf>) -> Self {
        Self {
            backend: BackendOptions::Embedded { data: data.into() },
            encryption_key: None,
            deaf: false,
        }
    }
}
