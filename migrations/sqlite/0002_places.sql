-- What a user may have under way. A turn counts for its slot: its user, or its session when it has none.
ALTER TABLE turn ADD COLUMN slot TEXT NOT NULL DEFAULT '';
-- Whether the turn has one of its slot's places and so may be queued and run.
ALTER TABLE turn ADD COLUMN admitted INTEGER NOT NULL DEFAULT 0;
-- The last record of its journal, to recognise a repetition.
ALTER TABLE turn ADD COLUMN last_record TEXT;

UPDATE turn SET slot = (SELECT ifnull(s.user_id, s.id) FROM session AS s WHERE s.id = turn.session_id)
WHERE status IN ('queued', 'running');
UPDATE turn SET admitted = 1
WHERE status = 'running' OR status = 'queued' AND due_ms IS NOT NULL;

CREATE INDEX turn_open_by_slot ON turn (slot) WHERE status IN ('queued', 'running');
