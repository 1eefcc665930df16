//! Tables of sessions and their turns.

use super::tables::{ColumnKind, TableColumn, TransferTable, columns};

pub(crate) const TABLES: &[TransferTable] = &[
    TransferTable {
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
    TransferTable {
        name: "turn",
        // Turns that ran or had yielded their permit are queued without a lease. Permits are given out after all rows
        // are copied. The remaining time of a resting turn is stored as a time after 1970, until the clock of the
        // database is read.
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
    TransferTable {
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
    TransferTable {
        name: "journal",
        columns: columns! {
            turn_id Text; call_id Text; effect Text; starts Int; background_id Text; outcome Text; output Text;
            taken Bool;
        },
        from: "journal ORDER BY id",
        order: "id",
        counter: None,
    },
    TransferTable {
        name: "follow_up",
        columns: columns! {
            session_id Text; turn_id Text; id Text; content Text; metadata Text; fingerprint Text; state Text; step Int;
            created_at Long;
        },
        from: "follow_up ORDER BY number",
        order: "number",
        counter: None,
    },
    TransferTable {
        name: "operation",
        columns: columns! {
            id Text; turn_id Text; session_id Text; asked_by Text; call_id Text; tool_name Text; arguments Text;
            state Text; outcome Text; output Text; created_at Long;
        },
        from: "operation ORDER BY id",
        order: "id COLLATE \"C\"",
        counter: None,
    },
    TransferTable {
        name: "log",
        columns: columns! { id Long; task_id Text; fence Long; last_seq Long; sealed Bool; },
        from: "log ORDER BY id",
        order: "id",
        counter: Some("id"),
    },
    TransferTable {
        name: "segment",
        columns: columns! {
            log_id Long = "position >> 32"; first_seq Long = "position & 4294967295"; last_seq Long; bytes Bytes;
        },
        from: "segment ORDER BY position",
        order: "log_id, first_seq",
        counter: None,
    },
    TransferTable {
        name: "api_key",
        columns: columns! { id Text; user_id Text; name Text; digest Text; head Text; created_at Long; },
        from: "api_key ORDER BY rowid",
        order: "created",
        counter: None,
    },
];
