//! What is copied: each table with its columns in Postgres and how they are read from the embedded store.

use tokio_postgres::types::Type;

pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) columns: &'static [Column],
    /// Where the rows come from in SQLite, and the order in which they are written and compared. Where Postgres numbers
    /// rows as they come, this keeps the order in which they were made.
    pub(super) from: &'static str,
    /// The same order in Postgres.
    pub(super) order: &'static str,
    /// A number that Postgres gives and that was copied here: it must go on behind the copies.
    pub(super) counter: Option<&'static str>,
}

pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What it is in SQLite.
    pub(super) source: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Bool,
    Int,
    Long,
    Moment,
    Bytes,
}

impl Kind {
    pub(super) fn postgres(self) -> Type {
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

macro_rules! columns {
    ($($name:ident $kind:ident $(= $source:literal)?;)+) => {
        &[$(Column {
            name: stringify!($name),
            kind: Kind::$kind,
            source: columns!(@source $name $($source)?),
        }),+]
    };
    (@source $name:ident $source:literal) => { $source };
    (@source $name:ident) => { stringify!($name) };
}

pub(super) const TABLES: &[Table] = &[
    Table {
        name: "session",
        columns: columns! {
            id Text; user_id Text; title Text; is_pinned Bool; dry_run Bool; metadata Text; parent_session_id Text;
            depth Int; created_at Long; updated_at Long; total_prompt_tokens Long; total_completion_tokens Long;
            total_cost_microdollars Long; last_ordinal Long; last_sequence Long;
        },
        from: "session ORDER BY rowid",
        order: "created",
        counter: None,
    },
    Table {
        name: "turn",
        // What ran or had stepped aside belongs to nobody now and waits. Who may run is decided when all are there. For how long one that
        // rests may do so is written as a time after 1970, until the clock of the database is known.
        columns: columns! {
            id Text; session_id Text; ordinal Long;
            slot Text = "CASE WHEN slot = session_id THEN 'session:' || slot
                              WHEN slot <> '' THEN 'user:' || slot
                              ELSE (SELECT ifnull('user:' || s.user_id, 'session:' || s.id)
                                    FROM session AS s WHERE s.id = session_id) END";
            admitted Bool = "0";
            status Text = "CASE status WHEN 'running' THEN 'queued' ELSE status END";
            message_id Text; request Text; client_id Text; fingerprint Text; regenerates Text; superseded_by Text;
            fence Long; attempt Int; cancel_requested Bool; error_code Text; error_message Text; steps_done Int;
            prompt_tokens Long; completion_tokens Long; cache_read_tokens Long; cache_write_tokens Long;
            cost_microdollars Long; last_record Text; created_at Long; started_at Long; ended_at Long;
            started Moment = "started_at"; ended Moment = "ended_at"; parent_turn_id Text;
            rests_until Moment = "CASE WHEN rests <> 0 THEN
                (SELECT 1000 * ifnull(p.at_most_ms, 0) FROM operation AS p WHERE p.turn_id = turn.id) END";
        },
        from: "turn ORDER BY rowid",
        order: "accepted",
        counter: None,
    },
    Table {
        name: "message",
        columns: columns! {
            session_id Text; sequence Long; id Text; turn_id Text; ordinal Long; superseded_by Text; created_at Long;
            role Text; content Text; reasoning Text; tool_calls Text; tool_call_id Text; name Text; outcome Text;
            model Text; duration_ms Long; metadata Text; provider_state Text;
        },
        from: "message ORDER BY session_id, sequence",
        order: "session_id COLLATE \"C\", sequence",
        counter: None,
    },
    Table {
        name: "journal",
        columns: columns! {
            turn_id Text; call_id Text; effect Text; starts Int; background_id Text; outcome Text; output Text;
            taken Bool;
        },
        from: "journal ORDER BY id",
        order: "id",
        counter: None,
    },
    Table {
        name: "follow_up",
        columns: columns! {
            session_id Text; turn_id Text; id Text; content Text; metadata Text; fingerprint Text; state Text; step Int;
            created_at Long;
        },
        from: "follow_up ORDER BY number",
        order: "number",
        counter: None,
    },
    Table {
        name: "operation",
        columns: columns! {
            id Text; turn_id Text; session_id Text; asked_by Text; call_id Text; tool_name Text; arguments Text;
            state Text; outcome Text; output Text; created_at Long;
        },
        from: "operation ORDER BY id",
        order: "id COLLATE \"C\"",
        counter: None,
    },
    Table {
        name: "log",
        columns: columns! { id Long; task_id Text; fence Long; last_seq Long; sealed Bool; },
        from: "log ORDER BY id",
        order: "id",
        counter: Some("id"),
    },
    Table {
        name: "segment",
        columns: columns! {
            log_id Long = "position >> 32"; first_seq Long = "position & 4294967295"; last_seq Long; bytes Bytes;
        },
        from: "segment ORDER BY position",
        order: "log_id, first_seq",
        counter: None,
    },
    Table {
        name: "api_key",
        columns: columns! { id Text; user_id Text; name Text; digest Text; head Text; created_at Long; },
        from: "api_key ORDER BY rowid",
        order: "created",
        counter: None,
    },
];

impl Table {
    /// Reads it in SQLite.
    pub(super) fn sqlite_select(&self) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.source).collect();
        format!("SELECT {} FROM {}", columns.join(", "), self.from)
    }

    /// Reads it back in Postgres.
    pub(super) fn postgres_select(&self) -> String {
        format!("SELECT {} FROM {} ORDER BY {}", self.names(), self.name, self.order)
    }

    pub(super) fn postgres_copy(&self) -> String {
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

    /// Columns that mean something only to the process that wrote them, or only to SQLite.
    const LEFT_BEHIND: &[&str] = &[
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
    ];

    #[test]
    fn every_column_of_the_embedded_store_is_copied_or_left_behind_on_purpose() {
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
            let copied = TABLES
                .iter()
                .find(|known| known.name == table)
                .is_some_and(|known| known.columns.iter().any(|known| known.name == column));
            let left = LEFT_BEHIND.contains(&format!("{table}.{column}").as_str());
            assert!(copied || left, "{table}.{column} is forgotten");
        }
    }

    #[test]
    fn every_table_can_be_read_from_the_embedded_store() {
        let db = Connection::open_in_memory().expect("a database");
        schema::bring_up_to_date(&db).expect("the steps are good");
        for table in TABLES {
            let read = db.prepare(&table.sqlite_select()).expect("good SQL");
            assert_eq!(read.column_count(), table.columns.len(), "{}", table.name);
        }
    }
}
