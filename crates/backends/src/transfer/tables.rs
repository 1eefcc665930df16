//! Which tables are copied: their columns in Postgres and how they are read from the embedded store.

use tokio_postgres::types::Type;

use super::{agents, chats};

pub(crate) struct TransferTable {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [TableColumn],
    /// Source of the rows in SQLite, and the order in which they are written and compared. Where Postgres numbers rows
    /// on insert, this keeps their original order.
    pub(crate) from: &'static str,
    /// The same order in Postgres.
    pub(crate) order: &'static str,
    /// A column that Postgres numbers itself: its sequence must continue after the copied values.
    pub(crate) counter: Option<&'static str>,
}

pub(crate) struct TableColumn {
    pub(crate) name: &'static str,
    pub(crate) kind: ColumnKind,
    /// SQLite expression of the column.
    pub(crate) source: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Text,
    Bool,
    Int,
    Long,
    Moment,
    Bytes,
}

impl ColumnKind {
    pub(crate) fn postgres(self) -> Type {
        match self {
            Self::Text => Type::TEXT,
            Self::Bool => Type::BOOL,
            Self::Int => Type::INT4,
            Self::Long => Type::INT8,
            Self::Moment => Type::TIMESTAMPTZ,
            Self::Bytes => Type::BYTEA,
        }
    }
}

/// `name ColumnKind;` for each column, `name ColumnKind = "…";` where its SQLite expression differs.
macro_rules! columns {
    ($($name:ident $kind:ident $(= $source:literal)?;)+) => {
        &[$(TableColumn {
            name: stringify!($name),
            kind: ColumnKind::$kind,
            source: columns!(@source $name $($source)?),
        }),+]
    };
    (@source $name:ident $source:literal) => { $source };
    (@source $name:ident) => { stringify!($name) };
}

pub(crate) use columns;

/// In the order in which they are copied.
pub(crate) fn all() -> impl Iterator<Item = &'static TransferTable> {
    chats::TABLES.iter().chain(agents::TABLES)
}

impl TransferTable {
    /// Reads it in SQLite.
    pub(crate) fn sqlite_select(&self) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.source).collect();
        format!("SELECT {} FROM {}", columns.join(", "), self.from)
    }

    /// Reads it back in Postgres.
    pub(crate) fn postgres_select(&self) -> String {
        format!("SELECT {} FROM {} ORDER BY {}", self.names(), self.name, self.order)
    }

    pub(crate) fn postgres_copy(&self) -> String {
        format!("COPY {} ({}) FROM STDIN BINARY", self.name, self.names())
    }

    fn names(&self) -> String {
        self.columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::schema;

    /// Columns that have a meaning only for the process that wrote them, or only in SQLite.
    const SKIPPED: &[&str] = &[
        "turn.worker",
        "turn.lease_until_ms",
        "turn.due_ms",
        "turn.started_boot",
        "turn.started_ms",
        "turn.ended_boot",
        "turn.ended_ms",
        "turn.admitted",
        "turn.aside",
        "turn.rests",
        "operation.at_most_ms",
        "session.last_beside",
        "follow_up.number",
        "completion.id",
        "completion.body",
        "completion.out_until_ms",
        "journal.id",
        "segment.position",
        "graph.number",
        "library_agent.number",
        "library_folder.number",
        "execution.worker",
        "execution.lease_until_ms",
        "execution.due_ms",
        "execution.last_advance",
        "execution.last_decided",
        "execution_request.number",
        "execution_request.body",
        "execution_journal.position",
        "review.number",
        "credit_entry.number",
        "block_run.number",
        "agent_value.number",
    ];

    #[test]
    fn every_column_of_the_embedded_store_is_copied_or_explicitly_skipped() {
        let db = Connection::open_in_memory().expect("a database");
        schema::bring_up_to_date(&db).expect("the steps are good");
        let mut columns = db
            .prepare(
                "SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
                 WHERE t.type = 'table' AND t.name <> 'meta' AND t.name NOT LIKE 'sqlite_%'",
            )
            .expect("good SQL");
        let columns = columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("columns");
        for column in columns {
            let (table, column): (String, String) = column.expect("two names");
            let copied = all()
                .find(|known| known.name == table)
                .is_some_and(|known| known.columns.iter().any(|known| known.name == column));
            let left = SKIPPED.contains(&format!("{table}.{column}").as_str());
            assert!(copied || left, "{table}.{column} is neither copied nor skipped");
        }
    }

    #[test]
    fn every_table_can_be_read_from_the_embedded_store() {
        let db = Connection::open_in_memory().expect("a database");
        schema::bring_up_to_date(&db).expect("the steps are good");
        for table in all() {
            let read = db.prepare(&table.sqlite_select()).expect("good SQL");
            assert_eq!(read.column_count(), table.columns.len(), "{}", table.name);
        }
    }
}
