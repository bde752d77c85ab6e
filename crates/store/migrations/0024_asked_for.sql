-- How the sender wants the message answered, kept with it: a crash between a message and its turn would
-- otherwise answer it by another model, or in another mode. NULL where nothing was asked for.
ALTER TABLE log ADD COLUMN mode TEXT;
ALTER TABLE log ADD COLUMN model TEXT;
