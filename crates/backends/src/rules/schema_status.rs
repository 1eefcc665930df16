//! Whether a database has the schema of this version.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaStatus {
    UpToDate,
    Newer { found: i64, known: i64 },
}
