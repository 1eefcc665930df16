//! Blocks that hold and convert values, and notes.

mod note;
mod store_value;
mod type_converter;

use std::sync::Arc;

use ports::Block;

pub(super) fn all() -> Vec<Arc<dyn Block>> {
    vec![note::block(), store_value::block(), type_converter::block()]
}
