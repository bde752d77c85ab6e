-- Conversations, personas, settings, turns, leases and timers, in the manner of 0001: booleans are
-- 0 or 1, JSON is TEXT (it escapes NUL), hashes are SHA-256 in hex.

ALTER TABLE log ADD COLUMN sender TEXT;
ALTER TABLE log ADD COLUMN sender_name BYTEA;
-- The platform's own id of the message; NULL where it has none.
ALTER TABLE log ADD COLUMN message_id TEXT;
ALTER TABLE log ADD COLUMN hidden BIGINT NOT NULL DEFAULT 0;
ALTER TABLE log ADD COLUMN mentioned BIGINT NOT NULL DEFAULT 0;
-- Looked at and in need of no answer.
ALTER TABLE log ADD COLUMN dismissed BIGINT NOT NULL DEFAULT 0;
-- The turn that took an incoming row.
ALTER TABLE log ADD COLUMN turn TEXT;
-- The journal (of a turn, a run or a call) that wrote an outgoing or system row.
ALTER TABLE log ADD COLUMN journal TEXT;

-- Nothing answered before there were turns.
UPDATE log SET dismissed = 1 WHERE role = 'user';

CREATE UNIQUE INDEX log_by_message ON log (session, message_id);
CREATE INDEX log_by_turn ON log (turn) WHERE turn IS NOT NULL;
CREATE INDEX log_by_journal ON log (journal) WHERE journal IS NOT NULL;
CREATE INDEX log_unanswered ON log (session, id)
    WHERE role = 'user' AND turn IS NULL AND hidden = 0 AND dismissed = 0;

ALTER TABLE run ADD COLUMN turn TEXT;
ALTER TABLE run ADD COLUMN round BIGINT;

CREATE INDEX run_by_turn ON run (turn, journal);

-- Of the arguments, once they are erased.
ALTER TABLE call ADD COLUMN hash TEXT;

CREATE TABLE conversation (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    platform TEXT NOT NULL,
    title BYTEA,
    persona BYTEA,
    -- The history is what lies from first_position to last_position; a replaced one lies before.
    first_position BIGINT NOT NULL,
    last_position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);

CREATE INDEX conversation_by_session ON conversation (session, created_at);

-- Not a reference: Compat(astrbot) allows a session to point at an id that does not exist.
CREATE TABLE current_conversation (
    session TEXT NOT NULL PRIMARY KEY,
    conversation TEXT NOT NULL
);

CREATE TABLE message (
    conversation TEXT NOT NULL,
    position BIGINT NOT NULL,
    -- NULL once erased; the hash stays.
    message TEXT,
    hash TEXT NOT NULL,
    -- Set on a summary: the last position it stands for.
    covers BIGINT,
    turn TEXT,
    tokens BIGINT,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (conversation, position)
);

CREATE INDEX summary_by_conversation ON message (conversation, position)
    WHERE covers IS NOT NULL;

CREATE TABLE persona (
    name TEXT NOT NULL PRIMARY KEY,
    id BIGINT NOT NULL UNIQUE,
    system_prompt BYTEA NOT NULL,
    begin_dialogs TEXT,
    -- A JSON array; NULL allows every method.
    methods TEXT,
    mode TEXT NOT NULL,
    model TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE setting (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE session_setting (
    session TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    version BIGINT NOT NULL
);

CREATE TABLE turn (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    conversation TEXT,
    user_name TEXT NOT NULL,
    role TEXT NOT NULL,
    mode TEXT NOT NULL,
    model TEXT NOT NULL,
    persona BYTEA,
    methods TEXT,
    parent TEXT,
    depth BIGINT NOT NULL,
    plan TEXT,
    started_at BIGINT NOT NULL,
    -- NULL until the turn has ended.
    stop TEXT,
    report TEXT,
    finished_at BIGINT,
    -- What it spent, sub-agents not counted; complete once it has ended.
    tokens_in BIGINT NOT NULL DEFAULT 0,
    tokens_out BIGINT NOT NULL DEFAULT 0,
    calls BIGINT NOT NULL DEFAULT 0,
    millis BIGINT NOT NULL DEFAULT 0,
    money BIGINT
);

CREATE INDEX turn_by_stop ON turn (stop, id);
CREATE INDEX turn_by_session ON turn (session, id);
CREATE INDEX turn_by_conversation ON turn (conversation, id);
CREATE INDEX turn_by_parent ON turn (parent);
CREATE INDEX turn_by_time ON turn (started_at, user_name);

CREATE TABLE round (
    turn TEXT NOT NULL,
    number BIGINT NOT NULL,
    request TEXT,
    asked_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    -- NULL until the model has answered.
    reply TEXT,
    reply_hash TEXT,
    usage TEXT,
    tokens_in BIGINT NOT NULL DEFAULT 0,
    tokens_out BIGINT NOT NULL DEFAULT 0,
    money BIGINT,
    answered_at BIGINT,
    PRIMARY KEY (turn, number)
);

CREATE TABLE lease (
    conversation TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    ends_at BIGINT NOT NULL
);

CREATE TABLE timer (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    user_name TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    text BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    state TEXT NOT NULL
);

CREATE INDEX timer_by_due ON timer (state, due_at);
CREATE INDEX timer_by_session ON timer (session, state);
