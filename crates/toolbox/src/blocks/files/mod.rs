//! Files: kept in the workspace, read as text, read as a table.

mod data_uri;
mod media;
mod read;
mod spreadsheet;
mod store;

use std::sync::Arc;

use ports::Block;

use super::Parts;
pub(super) use media::{Content, Media};

pub(super) fn all(parts: &Parts) -> Vec<Arc<dyn Block>> {
    vec![
        Arc::new(read::FileRead::new(parts)),
        Arc::new(spreadsheet::ReadSpreadsheet::new(parts)),
        Arc::new(store::FileStore::new(parts)),
    ]
}
