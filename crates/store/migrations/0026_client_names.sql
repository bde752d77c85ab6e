-- Whose the names of remote clients are: client ids, and the identities by which a client tells its
-- instances apart. A name is bound by whoever uses it first and stays bound, also when the key goes.
CREATE TABLE client_name (
    name TEXT NOT NULL PRIMARY KEY,
    -- The user that the holder acts for: 'operator', 'key-<id>' or 'client-<id>'.
    owner TEXT NOT NULL,
    -- Of an instance, 1: clients may choose a new one at every start, so old ones make room.
    instance BIGINT NOT NULL,
    bound_at BIGINT NOT NULL
);

CREATE INDEX client_name_by_owner ON client_name (owner, instance, bound_at);

-- The one key that the operator's answer is about: that of the page or program that asked.
ALTER TABLE client ADD COLUMN key TEXT;
