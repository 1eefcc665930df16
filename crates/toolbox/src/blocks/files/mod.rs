//! Blocks that store files, and read them as text or tables.

mod data_uri;
mod loader;

blocks! {
    read,
    spreadsheet,
    store,
}

pub(crate) use loader::{FileContent, FileLoader};
