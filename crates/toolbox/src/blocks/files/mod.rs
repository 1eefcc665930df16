//! Blocks that store files, and read them as text or tables.

mod data_uri;
mod loader;
mod read;
mod spreadsheet;
mod store;

use std::sync::Arc;

use ports::Block;

use super::BlockDependencies;
pub(super) use loader::{FileContent, FileLoader};

pub(super) fn all(dependencies: &BlockDependencies) -> Vec<Arc<dyn Block>> {
    vec![
        Arc::new(read::FileRead::new(dependencies)),
        Arc::new(spreadsheet::ReadSpreadsheet::new(dependencies)),
        Arc::new(store::FileStore::new(dependencies)),
    ]
}
