-- Standing answers are listed with who gave them and when, and revoked by number. Those given before
-- keep their order, and what is known of them: the newest answer for that method in that session.
ALTER TABLE rule RENAME TO old_rule;

CREATE TABLE rule (
    id BIGINT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    method TEXT NOT NULL,
    decision TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    made_by TEXT,
    UNIQUE (session, method)
);

INSERT INTO rule (id, session, method, decision, made_at, made_by)
SELECT ROW_NUMBER() OVER (ORDER BY session, method), session, method, decision,
       COALESCE((SELECT MAX(answered_at) FROM approval
                 WHERE approval.session = old_rule.session AND approval.method = old_rule.method), 0),
       (SELECT answered_by FROM approval
        WHERE approval.session = old_rule.session AND approval.method = old_rule.method
          AND answered_at IS NOT NULL ORDER BY answered_at DESC LIMIT 1)
FROM old_rule;

INSERT INTO counter (name, value) SELECT 'rule', COUNT(*) FROM rule;

DROP TABLE old_rule;

-- What waits in one session, and what waits at all.
CREATE INDEX approval_pending ON approval (session, id) WHERE state = 'pending';
