-- Agents: graphs in versions, libraries, the marketplace, runs and their journals, reviews, credits.
-- A `number` is the order in which rows were made, where the time of day does not tell.

CREATE TABLE graph (
    number      bigint GENERATED ALWAYS AS IDENTITY,
    id          text NOT NULL,
    version     integer NOT NULL,
    user_id     text NOT NULL,
    is_active   boolean NOT NULL,
    name        text NOT NULL,
    description text NOT NULL,
    body        text NOT NULL,
    created_at  bigint NOT NULL,
    PRIMARY KEY (id, version)
);
CREATE UNIQUE INDEX graph_active ON graph (id) WHERE is_active;
CREATE INDEX graph_by_user ON graph (user_id, created_at) WHERE is_active;

CREATE TABLE library_agent (
    number                      bigint GENERATED ALWAYS AS IDENTITY,
    id                          text PRIMARY KEY,
    user_id                     text NOT NULL,
    graph_id                    text NOT NULL,
    -- What an entry that follows the active version shows instead is looked up when it is read.
    graph_version               integer NOT NULL,
    name                        text NOT NULL,
    description                 text NOT NULL,
    creator                     text,
    folder_id                   text,
    is_favorite                 boolean NOT NULL,
    is_created_by_user          boolean NOT NULL,
    is_hidden                   boolean NOT NULL,
    use_graph_is_active_version boolean NOT NULL,
    settings                    text NOT NULL,
    created_at                  bigint NOT NULL,
    updated_at                  bigint NOT NULL,
    last_run_at                 bigint
);
CREATE UNIQUE INDEX library_agent_by_graph ON library_agent (user_id, graph_id);

CREATE TABLE library_folder (
    number     bigint GENERATED ALWAYS AS IDENTITY,
    id         text PRIMARY KEY,
    user_id    text NOT NULL,
    name       text NOT NULL,
    icon       text,
    color      text,
    parent_id  text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE UNIQUE INDEX library_folder_by_name
    ON library_folder (user_id, (coalesce(parent_id, '')), name);

-- The newest version of each agent of the marketplace.
CREATE TABLE listing (
    username      text NOT NULL,
    slug          text NOT NULL,
    version_id    text NOT NULL,
    name          text NOT NULL,
    sub_heading   text NOT NULL,
    description   text NOT NULL,
    categories    text NOT NULL,
    is_featured   boolean NOT NULL,
    graph_id      text NOT NULL,
    graph_version integer NOT NULL,
    owner         text NOT NULL,
    updated_at    bigint NOT NULL,
    PRIMARY KEY (username, slug)
);

-- Every version that was ever published: its id still finds the listing, and its graph stays visible.
CREATE TABLE listing_version (
    version_id    text PRIMARY KEY,
    username      text NOT NULL,
    slug          text NOT NULL,
    graph_id      text NOT NULL,
    graph_version integer NOT NULL,
    created_at    bigint NOT NULL
);
CREATE INDEX listing_version_by_graph ON listing_version (graph_id, graph_version);

-- Every batch of the journal changes its row here. A large request is kept outside the row, so that it is not written
-- anew each time; with room on the page, and no index on what changes, no index has to learn of the new version.
CREATE TABLE execution (
    number         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    id             text PRIMARY KEY,
    user_id        text NOT NULL,
    graph_id       text NOT NULL,
    graph_version  integer NOT NULL,
    status         text NOT NULL,
    request        text NOT NULL,
    -- The run whose node has started this one.
    parent_id      text,
    depth          integer NOT NULL,
    fence          bigint NOT NULL DEFAULT 0,
    attempt        integer NOT NULL DEFAULT 0,
    stop_requested boolean NOT NULL DEFAULT false,
    -- How many events are journaled.
    events         bigint NOT NULL DEFAULT 0,
    stats          text NOT NULL,
    error          text,
    worker         text,
    lease_until    timestamptz,
    -- When the queue should be told: of a run that waits, or, when its lease has run out, of one that runs. NULL while a
    -- person has to decide, and after its end.
    due            timestamptz,
    -- A digest of the last advance, to recognise a repetition.
    last_advance   bytea,
    created_at     bigint NOT NULL,
    started_at     bigint,
    ended_at       bigint
) WITH (fillfactor = 60, toast_tuple_target = 512, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX execution_by_user ON execution (user_id, created_at, number);
CREATE INDEX execution_by_graph ON execution (graph_id, user_id);
CREATE INDEX execution_by_parent ON execution (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX execution_due ON execution (due) WHERE due IS NOT NULL;
CREATE INDEX execution_open ON execution (status) WHERE status IN ('QUEUED', 'RUNNING');
CREATE INDEX execution_running ON execution (user_id)
    WHERE status = 'RUNNING' AND parent_id IS NULL;

CREATE TABLE execution_journal (
    -- The number of the execution.
    run   bigint NOT NULL,
    -- The number of the batch's first event, from 0.
    first bigint NOT NULL,
    count bigint NOT NULL,
    body  bytea NOT NULL,
    PRIMARY KEY (run, first)
);
-- Compression would cost the writer time with every batch.
ALTER TABLE execution_journal ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE review (
    number         bigint GENERATED ALWAYS AS IDENTITY,
    -- The ids that models give to their calls can be the same for two users.
    user_id        text NOT NULL,
    id             text NOT NULL,
    execution_id   text NOT NULL,
    graph_id       text NOT NULL,
    graph_version  integer NOT NULL,
    node_id        text NOT NULL,
    payload        text NOT NULL,
    instructions   text NOT NULL,
    editable       boolean NOT NULL,
    status         text NOT NULL,
    review_message text,
    was_edited     boolean NOT NULL,
    created_at     bigint NOT NULL,
    reviewed_at    bigint,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX review_by_execution ON review (execution_id, number);
CREATE INDEX review_waiting ON review (user_id, number) WHERE status = 'WAITING';

-- Nodes that a person has approved for the rest of a run.
CREATE TABLE review_approval (
    user_id      text NOT NULL,
    execution_id text NOT NULL,
    node_id      text NOT NULL,
    PRIMARY KEY (user_id, execution_id, node_id)
);

CREATE TABLE credit_entry (
    number          bigint GENERATED ALWAYS AS IDENTITY,
    user_id         text NOT NULL,
    key             text NOT NULL,
    amount          bigint NOT NULL,
    kind            text NOT NULL,
    running_balance bigint NOT NULL,
    description     text NOT NULL,
    created_at      bigint NOT NULL,
    PRIMARY KEY (user_id, key)
);
-- The balance is the running balance of a user's last entry.
CREATE UNIQUE INDEX credit_entry_by_user ON credit_entry (user_id, number);

CREATE TABLE block_run (
    user_id    text NOT NULL,
    key        text NOT NULL,
    block_id   text NOT NULL,
    session_id text,
    -- NULL until it has ended.
    outputs    text,
    error      text,
    created_at bigint NOT NULL,
    ended_at   bigint,
    PRIMARY KEY (user_id, key)
);

CREATE TABLE agent_value (
    user_id text NOT NULL,
    key     text NOT NULL,
    value   text NOT NULL,
    PRIMARY KEY (user_id, key)
);
