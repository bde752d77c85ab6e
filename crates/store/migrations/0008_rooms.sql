-- Rooms of remote clients: who is in them with which role, and what was said, which unlike the log
-- its writers may change. Names are printable; what was said is JSON, which escapes NUL.

CREATE TABLE room (
    name TEXT NOT NULL PRIMARY KEY,
    mode TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE room_member (
    room TEXT NOT NULL,
    identity TEXT NOT NULL,
    role TEXT NOT NULL,
    muted_until BIGINT,
    joined_at BIGINT NOT NULL,
    PRIMARY KEY (room, identity)
);

CREATE INDEX room_member_by_identity ON room_member (identity);

CREATE TABLE room_message (
    room TEXT NOT NULL,
    id TEXT NOT NULL,
    -- Ascending within the store.
    position BIGINT NOT NULL,
    identity TEXT NOT NULL,
    is_response BIGINT NOT NULL,
    -- Waits until the room's host submits.
    waiting BIGINT NOT NULL,
    body TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    edited_at BIGINT,
    PRIMARY KEY (room, id)
);

CREATE INDEX room_message_by_position ON room_message (room, position);
