-- One text for SQLite and PostgreSQL: only TEXT, BIGINT and BYTEA, no generated keys.
-- Text that code or a model wrote is BYTEA, since PostgreSQL refuses NUL characters in TEXT.
-- Times are milliseconds since 1970.

-- Source of ascending ids, one row per name: the two engines spell generated keys differently.
CREATE TABLE counter (
    name TEXT NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);

CREATE TABLE session (
    session TEXT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    number BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE run (
    journal TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    user_name TEXT NOT NULL,
    role TEXT NOT NULL,
    surface TEXT NOT NULL,
    code BYTEA,
    -- A JSON array; NULL allows every method.
    methods TEXT,
    seed BYTEA NOT NULL,
    started_at BIGINT NOT NULL,
    -- NULL until the run has ended.
    stop TEXT,
    report TEXT,
    finished_at BIGINT
);

CREATE INDEX run_by_stop ON run (stop, journal);

CREATE TABLE call (
    journal TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    method TEXT NOT NULL,
    kind TEXT NOT NULL,
    effect TEXT NOT NULL,
    arguments BYTEA NOT NULL,
    -- Nanoseconds, 8 bytes each, little-endian.
    clocks BYTEA NOT NULL,
    threaded BIGINT NOT NULL,
    -- 'value' or 'error'; NULL means that the call's outcome is unknown.
    outcome TEXT,
    value BYTEA,
    text BYTEA,
    parts TEXT,
    error BYTEA,
    micros BIGINT,
    PRIMARY KEY (journal, sequence)
);

CREATE TABLE approval (
    id BIGINT NOT NULL PRIMARY KEY,
    journal TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    session TEXT NOT NULL,
    user_name TEXT NOT NULL,
    method TEXT NOT NULL,
    arguments TEXT NOT NULL,
    state TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    answered_at BIGINT,
    UNIQUE (journal, sequence)
);

CREATE TABLE rule (
    session TEXT NOT NULL,
    method TEXT NOT NULL,
    decision TEXT NOT NULL,
    PRIMARY KEY (session, method)
);

CREATE TABLE note (
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    text BYTEA NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (session, name)
);

CREATE TABLE log (
    id BIGINT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    role TEXT NOT NULL,
    parts TEXT NOT NULL,
    written_at BIGINT NOT NULL
);

CREATE INDEX log_by_session ON log (session, id);

CREATE TABLE outbox (
    id BIGINT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    parts TEXT NOT NULL,
    queued_at BIGINT NOT NULL,
    delivered_at BIGINT
);

CREATE INDEX outbox_by_delivery ON outbox (delivered_at, id);

CREATE TABLE access_key (
    id TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT
);
