//! Blocks that create, change, combine and read lists.

mod sampling;

blocks! {
    add,
    combine,
    count,
    create,
    find,
    flatten,
    get,
    is_empty,
    remove,
    replace,
    reverse,
    sample,
    sets,
    zip,
}

use ports::block::BlockError;
use serde_json::Value;

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
