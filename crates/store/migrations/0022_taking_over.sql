-- What lets a turn go on elsewhere: in another instance on the same database, or where the plugins are
-- not that had a say in it.

-- Instances that share the database. Where one process owns it, as with SQLite, there are none, and
-- nobody holds anything.
-- What an instance holds is its own until then, by the database's clock.
CREATE TABLE instance (
    name TEXT NOT NULL PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

-- Of sessions, since turns are one at a time in a session; nobody ever took one of a conversation.
DROP TABLE lease;

CREATE TABLE lease (
    session TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    -- Another one for each taking, so that nobody gives up what was taken after.
    token TEXT NOT NULL
);

-- Whoever works on it; NULL for nobody.
ALTER TABLE turn ADD COLUMN holder TEXT;
ALTER TABLE run ADD COLUMN holder TEXT;
-- Whoever took the message in, and decides what is done about it.
ALTER TABLE log ADD COLUMN holder TEXT;

-- A claim holds as long as the claimer lives: a delivery may take its time.
ALTER TABLE outbox DROP COLUMN claimed_until;

-- What listeners made of something on its way, where they changed it.
CREATE TABLE altered (
    turn TEXT NOT NULL,
    -- 'said', 'call/N/arguments', 'call/N/result' or 'answer'.
    place TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (turn, place)
);
