//! What agents remember from run to run.

mod persist;
mod retrieve;
mod scope;

use std::sync::Arc;

use ports::Block;

use super::Parts;

pub(super) fn all(parts: &Parts) -> Vec<Arc<dyn Block>> {
    vec![
        Arc::new(persist::PersistInformation::new(parts)),
        Arc::new(retrieve::RetrieveInformation::new(parts)),
    ]
}
