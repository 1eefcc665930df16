-- Agents: graphs in versions, libraries, the marketplace, runs and their journals, reviews, credits.

CREATE TABLE graph (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL,
    version     INTEGER NOT NULL,
    user_id     TEXT NOT NULL,
    is_active   INTEGER NOT NULL,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    body        TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX graph_by_version ON graph (id, version);
CREATE UNIQUE INDEX graph_active ON graph (id) WHERE is_active = 1;
CREATE INDEX graph_by_user ON graph (user_id) WHERE is_active = 1;

CREATE TABLE library_agent (
    number                      INTEGER PRIMARY KEY,
    id                          TEXT NOT NULL,
    user_id                     TEXT NOT NULL,
    graph_id                    TEXT NOT NULL,
    -- What an entry that follows the active version shows instead is looked up when it is read.
    graph_version               INTEGER NOT NULL,
    name                        TEXT NOT NULL,
    description                 TEXT NOT NULL,
    creator                     TEXT,
    folder_id                   TEXT,
    is_favorite                 INTEGER NOT NULL,
    is_created_by_user          INTEGER NOT NULL,
    is_hidden                   INTEGER NOT NULL,
    use_graph_is_active_version INTEGER NOT NULL,
    settings                    TEXT NOT NULL,
    created_at                  INTEGER NOT NULL,
    updated_at                  INTEGER NOT NULL,
    last_run_at                 INTEGER
) STRICT;
CREATE UNIQUE INDEX library_agent_by_id ON library_agent (id);
CREATE UNIQUE INDEX library_agent_by_graph ON library_agent (user_id, graph_id);

CREATE TABLE library_folder (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    icon       TEXT,
    color      TEXT,
    parent_id  TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX library_folder_by_id ON library_folder (id);
CREATE UNIQUE INDEX library_folder_by_name ON library_folder (user_id, ifnull(parent_id, ''), name);

-- The newest version of each agent of the marketplace.
CREATE TABLE listing (
    username      TEXT NOT NULL,
    slug          TEXT NOT NULL,
    version_id    TEXT NOT NULL,
    name          TEXT NOT NULL,
    sub_heading   TEXT NOT NULL,
    description   TEXT NOT NULL,
    categories    TEXT NOT NULL,
    is_featured   INTEGER NOT NULL,
    graph_id      TEXT NOT NULL,
    graph_version INTEGER NOT NULL,
    owner         TEXT NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (username, slug)
) STRICT, WITHOUT ROWID;

-- Every version that was ever published: its id still finds the listing, and its graph stays visible.
CREATE TABLE listing_version (
    version_id    TEXT PRIMARY KEY NOT NULL,
    username      TEXT NOT NULL,
    slug          TEXT NOT NULL,
    graph_id      TEXT NOT NULL,
    graph_version INTEGER NOT NULL,
    created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX listing_version_by_graph ON listing_version (graph_id, graph_version);

CREATE TABLE execution (
    number         INTEGER PRIMARY KEY,
    id             TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    graph_id       TEXT NOT NULL,
    graph_version  INTEGER NOT NULL,
    status         TEXT NOT NULL,
    parent_id      TEXT,
    depth          INTEGER NOT NULL,
    fence          INTEGER NOT NULL DEFAULT 0,
    attempt        INTEGER NOT NULL DEFAULT 0,
    stop_requested INTEGER NOT NULL DEFAULT 0,
    events         INTEGER NOT NULL DEFAULT 0,
    stats          TEXT NOT NULL,
    error          TEXT,
    worker         TEXT,
    lease_until_ms INTEGER,
    -- When the queue should be told; NULL while somebody holds the run or a person has to decide.
    due_ms         INTEGER,
    -- The last advance, to recognise a repetition, and whether its answer was that all is decided.
    last_advance   BLOB,
    last_decided   INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    started_at     INTEGER,
    ended_at       INTEGER
) STRICT;
CREATE UNIQUE INDEX execution_by_id ON execution (id);
CREATE INDEX execution_by_user ON execution (user_id);
CREATE INDEX execution_by_graph ON execution (graph_id, user_id);
CREATE INDEX execution_by_parent ON execution (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX execution_due ON execution (due_ms) WHERE status = 'QUEUED';
CREATE INDEX execution_lease ON execution (lease_until_ms) WHERE status = 'RUNNING';
CREATE INDEX execution_running ON execution (user_id) WHERE status = 'RUNNING' AND parent_id IS NULL;

-- What a run was asked to do. It can be large and never changes, and a row that changes is written anew as a whole:
-- so it is not in the row that changes with every batch of the journal.
CREATE TABLE execution_request (
    number INTEGER PRIMARY KEY,
    body   TEXT NOT NULL
) STRICT;

-- position = execution.number * 2^32 + the number of the batch's first event: one tree, one insert per batch, and the
-- batches of a run side by side.
CREATE TABLE execution_journal (
    position INTEGER PRIMARY KEY,
    count    INTEGER NOT NULL,
    body     BLOB NOT NULL
) STRICT;

CREATE TABLE review (
    number         INTEGER PRIMARY KEY,
    -- The ids that models give to their calls can be the same for two users.
    user_id        TEXT NOT NULL,
    id             TEXT NOT NULL,
    execution_id   TEXT NOT NULL,
    graph_id       TEXT NOT NULL,
    graph_version  INTEGER NOT NULL,
    node_id        TEXT NOT NULL,
    payload        TEXT NOT NULL,
    instructions   TEXT NOT NULL,
    editable       INTEGER NOT NULL,
    status         TEXT NOT NULL,
    review_message TEXT,
    was_edited     INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    reviewed_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX review_by_id ON review (user_id, id);
CREATE INDEX review_by_execution ON review (execution_id);
CREATE INDEX review_waiting ON review (user_id) WHERE status = 'WAITING';

-- Nodes that a person has approved for the rest of a run.
CREATE TABLE review_approval (
    user_id      TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    node_id      TEXT NOT NULL,
    PRIMARY KEY (user_id, execution_id, node_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE credit_entry (
    number          INTEGER PRIMARY KEY,
    user_id         TEXT NOT NULL,
    key             TEXT NOT NULL,
    amount          INTEGER NOT NULL,
    kind            TEXT NOT NULL,
    running_balance INTEGER NOT NULL,
    description     TEXT NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX credit_entry_by_key ON credit_entry (user_id, key);
-- The balance is the running balance of a user's last entry.
CREATE INDEX credit_entry_by_user ON credit_entry (user_id);

CREATE TABLE block_run (
    number     INTEGER PRIMARY KEY,
    user_id    TEXT NOT NULL,
    key        TEXT NOT NULL,
    block_id   TEXT NOT NULL,
    session_id TEXT,
    -- NULL until it has ended.
    outputs    TEXT,
    error      TEXT,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;
CREATE UNIQUE INDEX block_run_by_key ON block_run (user_id, key);

CREATE TABLE agent_value (
    number  INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    key     TEXT NOT NULL,
    value   TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX agent_value_by_key ON agent_value (user_id, key);
