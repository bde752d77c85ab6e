-- What plugins keep with us, in the manner of 0001.

-- What only the operator reads of a failed call, such as a traceback.
ALTER TABLE call ADD COLUMN detail BYTEA;

-- Compat(nekro): values of a plugin by chat and user; an empty one means none.
CREATE TABLE plugin_data (
    id BIGINT NOT NULL UNIQUE,
    plugin TEXT NOT NULL,
    chat TEXT NOT NULL,
    user_name TEXT NOT NULL,
    name TEXT NOT NULL,
    value BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (plugin, chat, user_name, name)
);

-- Compat(astrbot): any value by scope; the bytes are of the value codec.
CREATE TABLE preference (
    scope TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (scope, scope_id, name)
);
