-- Times for people (created_at, …) are microseconds since 1970, as the process that wrote them saw them. Columns of type
-- timestamptz are on the clock of this database and decide: leases, due times, durations. JSON is kept as it was
-- written, in text. The table meta exists before this step.

CREATE TABLE session (
    id                      text PRIMARY KEY,
    user_id                 text,
    title                   text,
    is_pinned               boolean NOT NULL DEFAULT false,
    dry_run                 boolean NOT NULL,
    metadata                text NOT NULL,
    parent_session_id       text,
    created_at              bigint NOT NULL,
    updated_at              bigint NOT NULL,
    total_prompt_tokens     bigint NOT NULL DEFAULT 0,
    total_completion_tokens bigint NOT NULL DEFAULT 0,
    total_cost_microdollars bigint NOT NULL DEFAULT 0,
    -- Counters, so that ordinals and sequences stay dense whatever is hidden.
    last_ordinal            bigint NOT NULL DEFAULT 0,
    last_sequence           bigint NOT NULL DEFAULT 0,
    -- The order in which sessions were made, where the time of day does not tell.
    created                 bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX session_by_user ON session (user_id, updated_at) WHERE user_id IS NOT NULL;
CREATE INDEX session_by_parent ON session (parent_session_id) WHERE parent_session_id IS NOT NULL;

CREATE TABLE turn (
    id                 text PRIMARY KEY,
    session_id         text NOT NULL,
    -- The order in which the turns of a session were accepted, and in which they run.
    ordinal            bigint NOT NULL,
    -- The same across sessions: in this order turns get the places of their slot.
    accepted           bigint GENERATED ALWAYS AS IDENTITY,
    -- What the turn counts for: 'user:…', or 'session:…' when it was accepted without a user.
    slot               text NOT NULL,
    -- Whether the turn has one of its slot's places and so may be queued and run.
    admitted           boolean NOT NULL,
    status             text NOT NULL,
    message_id         text NOT NULL,
    request            text NOT NULL,
    client_id          text,
    fingerprint        text,
    -- The turn this one answers again, and the one that took this one out of the history.
    regenerates        text,
    superseded_by      text,
    fence              bigint NOT NULL DEFAULT 0,
    attempt            integer NOT NULL DEFAULT 0,
    cancel_requested   boolean NOT NULL DEFAULT false,
    worker             text,
    lease_until        timestamptz,
    -- When the queue should be told: of a turn that waits, or, when its lease has run out, of one that runs. NULL while
    -- it has no place, and after its end.
    due                timestamptz,
    error_code         text,
    error_message      text,
    steps_done         integer NOT NULL DEFAULT 0,
    prompt_tokens      bigint NOT NULL DEFAULT 0,
    completion_tokens  bigint NOT NULL DEFAULT 0,
    cache_read_tokens  bigint NOT NULL DEFAULT 0,
    cache_write_tokens bigint NOT NULL DEFAULT 0,
    cost_microdollars  bigint,
    -- The last record of its journal, to recognise a repetition.
    last_record        text,
    created_at         bigint NOT NULL,
    started_at         bigint,
    ended_at           bigint,
    -- The same two moments on the clock of this database.
    started            timestamptz,
    ended              timestamptz
);
CREATE UNIQUE INDEX turn_by_ordinal ON turn (session_id, ordinal);
CREATE UNIQUE INDEX turn_by_client ON turn (session_id, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX turn_open ON turn (session_id, ordinal) WHERE status IN ('queued', 'running');
CREATE INDEX turn_open_by_slot ON turn (slot) WHERE status IN ('queued', 'running');
CREATE INDEX turn_due ON turn (due) WHERE due IS NOT NULL;

CREATE TABLE message (
    session_id     text NOT NULL,
    sequence       bigint NOT NULL,
    id             text NOT NULL,
    turn_id        text NOT NULL,
    ordinal        bigint NOT NULL,
    -- The turn that answered again and so took this row out of the history.
    superseded_by  text,
    created_at     bigint NOT NULL,
    role           text NOT NULL,
    content        text NOT NULL,
    reasoning      text,
    tool_calls     text,
    tool_call_id   text,
    name           text,
    outcome        text,
    model          text,
    duration_ms    bigint,
    metadata       text,
    provider_state text,
    PRIMARY KEY (session_id, sequence)
);
CREATE UNIQUE INDEX message_by_id ON message (session_id, id);
-- One result for every call.
CREATE UNIQUE INDEX message_by_call ON message (turn_id, tool_call_id) WHERE tool_call_id IS NOT NULL;

-- What a turn was about to do, written before it does it.
CREATE TABLE journal (
    id      bigint GENERATED ALWAYS AS IDENTITY,
    turn_id text NOT NULL,
    call_id text NOT NULL,
    effect  text NOT NULL,
    starts  integer NOT NULL,
    PRIMARY KEY (turn_id, call_id)
);

-- Every append changes its row here. With room on the page, and no index on what changes, a new version of a row lies
-- beside the old one and no index has to learn of it.
CREATE TABLE log (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id  text NOT NULL UNIQUE,
    fence    bigint NOT NULL,
    last_seq bigint NOT NULL,
    sealed   boolean NOT NULL
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE segment (
    log_id    bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq  bigint NOT NULL,
    bytes     bytea NOT NULL,
    PRIMARY KEY (log_id, first_seq)
);
-- Compression would cost the writer time with every chunk.
ALTER TABLE segment ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE api_key (
    id         text PRIMARY KEY,
    user_id    text NOT NULL,
    name       text NOT NULL,
    digest     text NOT NULL UNIQUE,
    head       text NOT NULL,
    created_at bigint NOT NULL,
    -- The order in which keys were made, where the time of day does not tell.
    created    bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX api_key_by_user ON api_key (user_id, created_at);
