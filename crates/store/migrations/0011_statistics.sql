-- What the operator asks about: how a method fares, and whose word let a call pass.

-- Journals are named in the order of time, so that the newest calls of a method lie together.
CREATE INDEX call_by_method ON call (method, journal, sequence);

-- Who answered; NULL where that was not said.
ALTER TABLE approval ADD COLUMN answered_by TEXT;
