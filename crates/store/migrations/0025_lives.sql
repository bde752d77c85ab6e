-- What is held is held by one life of an instance: from a start of its process to the end of it. A
-- restarted one is another life, which takes over what the one before it held; and what was held by a
-- life that is no more is anybody's, also while the next one lives.

-- What a version before had held was held by a name, which is no life: anybody may take it over.
DROP TABLE instance;

CREATE TABLE instance (
    -- A fresh one at every start; what `holder` and `claimed_by` name.
    life TEXT NOT NULL PRIMARY KEY,
    -- Of the data directory, the same after a restart.
    name TEXT NOT NULL,
    -- The machine and the directory, so that a copy of the directory is told from a restart.
    place TEXT NOT NULL,
    -- By the database's clock.
    ends_at BIGINT NOT NULL
);
