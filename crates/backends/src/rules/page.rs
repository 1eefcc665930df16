//! Pages of lists.

/// The offset of a page as a statement parameter; a larger one is beyond all rows anyway.
pub(crate) fn offset(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}
