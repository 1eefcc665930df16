//! The blocks that graphs are built from: one folder per subject, one file per block or family of blocks.
//! To add a block, write its file and add its name to `blocks!` in the `mod.rs` of its folder.

/// Declares the files of a folder, and `blocks`, which collects the blocks of each file in the order of this list.
/// Folders are listed in the same way. `cargo fmt` does not find files that a macro declares; `scripts/format.sh` does.
macro_rules! blocks {
    ($($file:ident),+ $(,)?) => {
        $(mod $file;)+

        pub(crate) fn blocks(
            dependencies: &$crate::blocks::BlockDependencies,
        ) -> $crate::blocks::typed::BlockList {
            [$($file::blocks(dependencies)),+].into_iter().flatten().collect()
        }
    };
}

mod comparison;
mod failures;
pub(crate) mod pin;
mod prelude;
#[cfg(test)]
mod recipe;
mod result_limits;
mod typed;

blocks! {
    agents,
    ai,
    basic,
    dictionaries,
    files,
    interface,
    lists,
    logic,
    memory,
    text,
    time,
    web,
}

use std::sync::Arc;

use ports::{Block, Clock, Files, Library, Listings, ModelProvider, Values};

use crate::egress;

/// The services that blocks use.
#[derive(Clone)]
pub struct BlockDependencies {
    pub model: Arc<dyn ModelProvider>,
    pub clock: Arc<dyn Clock>,
    pub egress: egress::EgressClient,
    pub files: Arc<dyn Files>,
    pub values: Arc<dyn Values>,
    pub library: Arc<dyn Library>,
    pub listings: Arc<dyn Listings>,
}

/// All blocks, by folder.
pub fn all(dependencies: &BlockDependencies) -> Vec<Arc<dyn Block>> {
    blocks(dependencies)
}
