-- What is known of a message when it comes, and who is handing an outgoing one over.

-- The sender's role at that time; NULL for what no person sent.
ALTER TABLE log ADD COLUMN sender_role TEXT;
-- Listeners are dealing with it. Such a row counts as dismissed until they have spoken.
ALTER TABLE log ADD COLUMN offered BIGINT NOT NULL DEFAULT 0;

CREATE INDEX log_offered ON log (id) WHERE offered = 1;

-- The process that is delivering the message, and until when nobody else may.
ALTER TABLE outbox ADD COLUMN claimed_by TEXT;
ALTER TABLE outbox ADD COLUMN claimed_until BIGINT;
