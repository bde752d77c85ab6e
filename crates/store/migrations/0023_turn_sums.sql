-- What a turn cost is the sum of its rows in `spent`.
ALTER TABLE turn DROP COLUMN tokens_in;
ALTER TABLE turn DROP COLUMN tokens_out;
ALTER TABLE turn DROP COLUMN money;

-- Of a turn that has not ended the time is counted from its rounds.
UPDATE turn SET millis = 0 WHERE stop IS NULL;
