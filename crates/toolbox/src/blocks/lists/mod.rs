//! Blocks that create, change, combine and read lists.

mod add;
mod combine;
mod count;
mod create;
mod find;
mod flatten;
mod get;
mod is_empty;
mod remove;
mod replace;
mod reverse;
mod sample;
mod sampling;
mod sets;
mod zip;

use std::sync::Arc;

use ports::Block;
use ports::block::BlockError;
use serde_json::Value;

pub(super) fn all() -> Vec<Arc<dyn Block>> {
    vec![
        add::block(),
        combine::concatenate(),
        combine::interleave(),
        count::block(),
        create::block(),
        find::block(),
        flatten::block(),
        get::block(),
        is_empty::block(),
        remove::block(),
        replace::block(),
        reverse::block(),
        sample::block(),
        sets::difference(),
        sets::intersection(),
        zip::block(),
    ]
}

fn out_of_range(index: i64, length: usize) -> BlockError {
    BlockError::failed(format!("Index {index} is out of range for a list of {length} items."))
}

/// The inner lists of a list; null items are skipped.
fn inner_lists(lists: Vec<Value>) -> Result<Vec<Vec<Value>>, BlockError> {
    let list = |(index, item): (usize, Value)| match item {
        Value::Null => None,
        Value::Array(items) => Some(Ok(items)),
        _ => Some(Err(BlockError::failed(format!("Item {index} of `lists` is not a list.")))),
    };
    lists.into_iter().enumerate().filter_map(list).collect()
}
