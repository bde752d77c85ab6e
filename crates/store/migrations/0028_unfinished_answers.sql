-- The beginning of an answer that was stopped, or broke off.
ALTER TABLE log ADD COLUMN unfinished BIGINT NOT NULL DEFAULT 0;
