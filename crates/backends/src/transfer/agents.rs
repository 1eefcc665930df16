//! Tables of agents: graphs, libraries, listings and executions.

use super::tables::{ColumnKind, TableColumn, TransferTable, columns};

pub(crate) const TABLES: &[TransferTable] = &[
    TransferTable {
        name: "graph",
        columns: columns! {
            id Text; version Int; user_id Text; is_active Bool; name Text; description Text; body Text;
            created_at Long;
        },
        from: "graph ORDER BY number",
        order: "number",
        counter: None,
    },
    TransferTable {
        name: "library_agent",
        columns: columns! {
            id Text; user_id Text; graph_id Text; graph_version Int; name Text; description Text; creator Text;
            folder_id Text; is_favorite Bool; is_created_by_user Bool; is_hidden Bool;
            use_graph_is_active_version Bool; settings Text; created_at Long; updated_at Long; last_run_at Long;
        },
        from: "library_agent ORDER BY number",
        order: "number",
        counter: None,
    },
    TransferTable {
        name: "library_folder",
        columns: columns! {
            id Text; user_id Text; name Text; icon Text; color Text; parent_id Text; created_at Long; updated_at Long;
        },
        from: "library_folder ORDER BY number",
        order: "number",
        counter: None,
    },
    TransferTable {
        name: "listing",
        columns: columns! {
            username Text; slug Text; version_id Text; name Text; sub_heading Text; description Text; categories Text;
            is_featured Bool; graph_id Text; graph_version Int; owner Text; updated_at Long;
        },
        from: "listing ORDER BY username, slug",
        order: "username COLLATE \"C\", slug COLLATE \"C\"",
        counter: None,
    },
    TransferTable {
        name: "listing_version",
        columns: columns! {
            version_id Text; username Text; slug Text; graph_id Text; graph_version Int; created_at Long;
        },
        from: "listing_version ORDER BY version_id",
        order: "version_id COLLATE \"C\"",
        counter: None,
    },
    TransferTable {
        name: "execution",
        // Running executions are queued without a lease. When they are due is set after all rows are copied.
        columns: columns! {
            number Long; id Text; user_id Text; graph_id Text; graph_version Int;
            status Text = "CASE status WHEN 'RUNNING' THEN 'QUEUED' ELSE status END";
            request Text = "(SELECT r.body FROM execution_request AS r WHERE r.number = execution.number)";
            parent_id Text; depth Int; fence Long; attempt Int; stop_requested Bool; events Long; stats Text;
            error Text; created_at Long; started_at Long; ended_at Long;
        },
        from: "execution ORDER BY number",
        order: "number",
        counter: Some("number"),
    },
    TransferTable {
        name: "execution_journal",
        columns: columns! {
            run Long = "position >> 32"; first Long = "position & 4294967295"; count Long; body Bytes;
        },
        from: "execution_journal ORDER BY position",
        order: "run, first",
        counter: None,
    },
    TransferTable {
        name: "review",
        columns: columns! {
            user_id Text; id Text; execution_id Text; graph_id Text; graph_version Int; node_id Text; payload Text;
            instructions Text; editable Bool; status Text; review_message Text; was_edited Bool; created_at Long;
            reviewed_at Long;
        },
        from: "review ORDER BY number",
        order: "number",
        counter: None,
    },
    TransferTable {
        name: "review_approval",
        columns: columns! { user_id Text; execution_id Text; node_id Text; },
        from: "review_approval ORDER BY user_id, execution_id, node_id",
        order: "user_id COLLATE \"C\", execution_id COLLATE \"C\", node_id COLLATE \"C\"",
        counter: None,
    },
    TransferTable {
        name: "credit_entry",
        columns: columns! {
            user_id Text; key Text; amount Long; kind Text; running_balance Long; description Text; created_at Long;
        },
        from: "credit_entry ORDER BY number",
        order: "number",
        counter: None,
    },
    TransferTable {
        name: "block_run",
        columns: columns! {
            user_id Text; key Text; block_id Text; session_id Text; outputs Text; error Text; created_at Long;
            ended_at Long;
        },
        from: "block_run ORDER BY user_id, key",
        order: "user_id COLLATE \"C\", key COLLATE \"C\"",
        counter: None,
    },
    TransferTable {
        name: "agent_value",
        columns: columns! { user_id Text; key Text; value Text; },
        from: "agent_value ORDER BY user_id, key",
        order: "user_id COLLATE \"C\", key COLLATE \"C\"",
        counter: None,
    },
];
