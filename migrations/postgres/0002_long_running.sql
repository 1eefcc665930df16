-- Work that outlives a step: turns that wait for others, trees of turns, parked calls, operations, follow-ups.

-- How far below a session that a person began.
ALTER TABLE session ADD COLUMN depth integer NOT NULL DEFAULT 0;

-- Ordinals below zero are those of operations that have not lined up: they stand outside the order of their session.

-- Whether an admitted turn uses its place: 0 it does, 1 it has given it to others, 2 it wants one back.
ALTER TABLE turn ADD COLUMN aside smallint NOT NULL DEFAULT 0;
-- Its work goes on elsewhere: until then it has no place and waits for none.
ALTER TABLE turn ADD COLUMN rests_until timestamptz;
-- The turn whose tool call started this one.
ALTER TABLE turn ADD COLUMN parent_turn_id text;
CREATE INDEX turn_by_parent ON turn (parent_turn_id) WHERE parent_turn_id IS NOT NULL;

-- Set when a call goes on in the background; the outcome and the output when it has ended there.
ALTER TABLE journal ADD COLUMN background_id text;
ALTER TABLE journal ADD COLUMN outcome text;
ALTER TABLE journal ADD COLUMN output text;
-- Whether the model has been given its end.
ALTER TABLE journal ADD COLUMN taken boolean NOT NULL DEFAULT false;

-- What was sent while a turn was at work. One that was delivered is a row of the history as well, with the same id.
CREATE TABLE follow_up (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_id  text NOT NULL,
    turn_id     text NOT NULL,
    id          text NOT NULL,
    content     text NOT NULL,
    metadata    text,
    fingerprint text NOT NULL,
    state       text NOT NULL,
    step        integer,
    created_at  bigint NOT NULL
);
CREATE UNIQUE INDEX follow_up_by_id ON follow_up (session_id, id);
CREATE INDEX follow_up_by_session ON follow_up (session_id, number);
CREATE INDEX follow_up_pending ON follow_up (turn_id, number) WHERE state = 'pending';

CREATE TABLE operation (
    id         text PRIMARY KEY,
    -- The turn that carries it out.
    turn_id    text NOT NULL,
    session_id text NOT NULL,
    -- The turn whose model asked for it, and its call.
    asked_by   text NOT NULL,
    call_id    text NOT NULL,
    tool_name  text NOT NULL,
    arguments  text NOT NULL,
    state      text NOT NULL,
    outcome    text,
    output     text,
    created_at bigint NOT NULL
);
CREATE UNIQUE INDEX operation_by_turn ON operation (turn_id);
CREATE UNIQUE INDEX operation_by_call ON operation (asked_by, call_id);
CREATE INDEX operation_by_session ON operation (session_id);
