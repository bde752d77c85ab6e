-- Timers of plugins, in the manner of 0001: what is due is told to a plugin and not to a session.

-- Which kind of plugins is told; NULL for a text that arrives in its session.
ALTER TABLE timer ADD COLUMN flavour TEXT;
-- The plugin that set it; empty where nobody knows.
ALTER TABLE timer ADD COLUMN plugin TEXT;
-- What it is called by there, and the data that goes along (bytes of the value codec).
ALTER TABLE timer ADD COLUMN name TEXT;
ALTER TABLE timer ADD COLUMN payload BYTEA;
-- When it comes again; NULL for once.
ALTER TABLE timer ADD COLUMN cron TEXT;
ALTER TABLE timer ADD COLUMN timezone TEXT;
