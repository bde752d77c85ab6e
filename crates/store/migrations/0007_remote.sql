-- Remote clients, in the manner of 0001: whom the operator lets in, what they have asked, and what
-- of their files is served.

-- The client that alone may use the key; NULL leaves the name to whoever holds it.
ALTER TABLE access_key ADD COLUMN client TEXT;

CREATE INDEX access_key_by_client ON access_key (client, created_at) WHERE client IS NOT NULL;

-- Clients that came without a key and asked to be let in.
CREATE TABLE client (
    id TEXT NOT NULL PRIMARY KEY,
    -- What it says of itself.
    kind TEXT NOT NULL,
    description BYTEA NOT NULL,
    -- The page it came from; NULL for a program.
    origin TEXT,
    -- 'pending', 'approved' or 'revoked'.
    state TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    decided_at BIGINT
);

CREATE INDEX client_by_state ON client (state, asked_at);

-- The last effectful call of each name that a client gave to a call.
CREATE TABLE request (
    -- Hashes: of the asker and the name, and of the call.
    id TEXT NOT NULL PRIMARY KEY,
    call TEXT NOT NULL,
    journal TEXT NOT NULL,
    made_at BIGINT NOT NULL
);

CREATE INDEX request_by_time ON request (made_at);

-- Files and folders of clients that are served by HTTP.
CREATE TABLE resource (
    url TEXT NOT NULL PRIMARY KEY,
    path TEXT NOT NULL,
    client TEXT NOT NULL,
    added_at BIGINT NOT NULL
);
