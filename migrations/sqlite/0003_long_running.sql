-- Work that outlives a step: turns that wait for others, trees of turns, parked calls, operations, follow-ups.

-- How far below a session that a person began.
ALTER TABLE session ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;

-- An ordinal below zero is that of an operation that has not lined up: it stands outside the order of its session.
ALTER TABLE session ADD COLUMN last_beside INTEGER NOT NULL DEFAULT 0;

-- Whether an admitted turn uses its place: 0 it does, 1 it has given it to others, 2 it wants one back.
ALTER TABLE turn ADD COLUMN aside INTEGER NOT NULL DEFAULT 0;
-- Its work goes on elsewhere: it has no place and waits for none, and its due_ms is when that has taken too long.
ALTER TABLE turn ADD COLUMN rests INTEGER NOT NULL DEFAULT 0;
-- The turn whose tool call started this one.
ALTER TABLE turn ADD COLUMN parent_turn_id TEXT;
CREATE INDEX turn_by_parent ON turn (parent_turn_id) WHERE parent_turn_id IS NOT NULL;

-- Set when a call goes on in the background; the outcome and the output when it has ended there.
ALTER TABLE journal ADD COLUMN background_id TEXT;
ALTER TABLE journal ADD COLUMN outcome TEXT;
ALTER TABLE journal ADD COLUMN output TEXT;
-- Whether the model has been given its end.
ALTER TABLE journal ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;

-- What was sent while a turn was at work. One that was delivered is a row of the history as well, with the same id.
CREATE TABLE follow_up (
    number      INTEGER PRIMARY KEY,
    session_id  TEXT NOT NULL,
    turn_id     TEXT NOT NULL,
    id          TEXT NOT NULL,
    content     TEXT NOT NULL,
    metadata    TEXT,
    fingerprint TEXT NOT NULL,
    state       TEXT NOT NULL,
    step        INTEGER,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX follow_up_by_id ON follow_up (session_id, id);
CREATE INDEX follow_up_pending ON follow_up (turn_id, number) WHERE state = 'pending';

CREATE TABLE operation (
    id         TEXT PRIMARY KEY NOT NULL,
    -- The turn that carries it out.
    turn_id    TEXT NOT NULL,
    session_id TEXT NOT NULL,
    -- The turn whose model asked for it, and its call.
    asked_by   TEXT NOT NULL,
    call_id    TEXT NOT NULL,
    tool_name  TEXT NOT NULL,
    arguments  TEXT NOT NULL,
    state      TEXT NOT NULL,
    outcome    TEXT,
    output     TEXT,
    -- How long the work may go on elsewhere. The next process counts it anew: a clock that was set meanwhile must not
    -- end the work early.
    at_most_ms INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX operation_by_turn ON operation (turn_id);
CREATE UNIQUE INDEX operation_by_call ON operation (asked_by, call_id);
CREATE INDEX operation_by_session ON operation (session_id);

-- Messages that say what an operation came to. Another program may add one: INSERT INTO completion (body) VALUES (…).
CREATE TABLE completion (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    body         TEXT NOT NULL,
    -- Until when somebody has it in hand; NULL while nobody has.
    out_until_ms INTEGER
) STRICT;
