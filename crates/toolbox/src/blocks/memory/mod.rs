//! Blocks that store values between runs.

mod persist;
mod retrieve;
mod scope;

use std::sync::Arc;

use ports::Block;

use super::BlockDependencies;

pub(super) fn all(dependencies: &BlockDependencies) -> Vec<Arc<dyn Block>> {
    vec![
        Arc::new(persist::PersistInformation::new(dependencies)),
        Arc::new(retrieve::RetrieveInformation::new(dependencies)),
    ]
}
