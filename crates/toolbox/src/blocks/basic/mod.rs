//! Blocks that hold and convert values, and notes.

blocks! {
    note,
    store_value,
    type_converter,
}
