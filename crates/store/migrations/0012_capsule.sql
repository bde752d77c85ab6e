-- What executing a run again from its beginning to its end needs besides its calls: the clocks it
-- read after the last of them (nanoseconds, 8 bytes each, little-endian), and whether it used threads,
-- which have no order to repeat. NULL while it runs, and for runs of earlier versions.
ALTER TABLE run ADD COLUMN clocks BYTEA;
ALTER TABLE run ADD COLUMN threaded BIGINT;
