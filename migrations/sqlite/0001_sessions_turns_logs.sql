-- Times for people (created_at, …) are microseconds since 1970. Columns that end in _ms count
-- milliseconds since the process started, on a clock that never jumps; they mean nothing to the next
-- process, which resets them when it opens the file.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    id                      TEXT PRIMARY KEY NOT NULL,
    user_id                 TEXT,
    title                   TEXT,
    is_pinned               INTEGER NOT NULL DEFAULT 0,
    dry_run                 INTEGER NOT NULL,
    metadata                TEXT NOT NULL,
    parent_session_id       TEXT,
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL,
    total_prompt_tokens     INTEGER NOT NULL DEFAULT 0,
    total_completion_tokens INTEGER NOT NULL DEFAULT 0,
    total_cost_microdollars INTEGER NOT NULL DEFAULT 0,
    -- Counters, so that ordinals and sequences stay dense whatever is hidden.
    last_ordinal            INTEGER NOT NULL DEFAULT 0,
    last_sequence           INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_by_user ON session (user_id, updated_at) WHERE user_id IS NOT NULL;
CREATE INDEX session_by_parent ON session (parent_session_id) WHERE parent_session_id IS NOT NULL;

CREATE TABLE turn (
    id                 TEXT PRIMARY KEY NOT NULL,
    session_id         TEXT NOT NULL,
    -- The order in which the turns of a session were accepted, and in which they run.
    ordinal            INTEGER NOT NULL,
    status             TEXT NOT NULL,
    message_id         TEXT NOT NULL,
    request            TEXT NOT NULL,
    client_id          TEXT,
    fingerprint        TEXT,
    -- The turn this one answers again, and the one that took this one out of the history.
    regenerates        TEXT,
    superseded_by      TEXT,
    fence              INTEGER NOT NULL DEFAULT 0,
    attempt            INTEGER NOT NULL DEFAULT 0,
    cancel_requested   INTEGER NOT NULL DEFAULT 0,
    worker             TEXT,
    lease_until_ms     INTEGER,
    -- When the queue should be told; NULL while somebody holds the turn or an older one comes first.
    due_ms             INTEGER,
    error_code         TEXT,
    error_message      TEXT,
    steps_done         INTEGER NOT NULL DEFAULT 0,
    prompt_tokens      INTEGER NOT NULL DEFAULT 0,
    completion_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    cost_microdollars  INTEGER,
    created_at         INTEGER NOT NULL,
    started_at         INTEGER,
    ended_at           INTEGER,
    -- The same two moments on the process's clock, with the number of the start it belongs to.
    started_boot       INTEGER,
    started_ms         INTEGER,
    ended_boot         INTEGER,
    ended_ms           INTEGER
) STRICT;
CREATE UNIQUE INDEX turn_by_ordinal ON turn (session_id, ordinal);
CREATE UNIQUE INDEX turn_by_client ON turn (session_id, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX turn_open ON turn (session_id, ordinal) WHERE status IN ('queued', 'running');
CREATE INDEX turn_due ON turn (due_ms) WHERE status = 'queued' AND due_ms IS NOT NULL;
CREATE INDEX turn_lease ON turn (lease_until_ms) WHERE status = 'running';

CREATE TABLE message (
    session_id     TEXT NOT NULL,
    sequence       INTEGER NOT NULL,
    id             TEXT NOT NULL,
    turn_id        TEXT NOT NULL,
    ordinal        INTEGER NOT NULL,
    -- The turn that answered again and so took this row out of the history.
    superseded_by  TEXT,
    created_at     INTEGER NOT NULL,
    role           TEXT NOT NULL,
    content        TEXT NOT NULL,
    reasoning      TEXT,
    tool_calls     TEXT,
    tool_call_id   TEXT,
    name           TEXT,
    outcome        TEXT,
    model          TEXT,
    duration_ms    INTEGER,
    metadata       TEXT,
    provider_state TEXT
) STRICT;
CREATE UNIQUE INDEX message_by_sequence ON message (session_id, sequence);
CREATE UNIQUE INDEX message_by_id ON message (session_id, id);
-- One result for every call.
CREATE UNIQUE INDEX message_by_call ON message (turn_id, tool_call_id) WHERE tool_call_id IS NOT NULL;

-- What a turn was about to do, written before it does it.
CREATE TABLE journal (
    id      INTEGER PRIMARY KEY,
    turn_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    effect  TEXT NOT NULL,
    starts  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX journal_by_call ON journal (turn_id, call_id);

CREATE TABLE log (
    id       INTEGER PRIMARY KEY,
    task_id  TEXT NOT NULL,
    fence    INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    sealed   INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX log_by_task ON log (task_id);

-- position = log.id * 2^32 + the first sequence of the segment: one tree, one insert per segment, and
-- the segments of a log side by side.
CREATE TABLE segment (
    position INTEGER PRIMARY KEY,
    last_seq INTEGER NOT NULL,
    bytes    BLOB NOT NULL
) STRICT;

CREATE TABLE api_key (
    id         TEXT PRIMARY KEY NOT NULL,
    user_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    digest     TEXT NOT NULL,
    head       TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX api_key_by_digest ON api_key (digest);
CREATE INDEX api_key_by_user ON api_key (user_id, created_at);
