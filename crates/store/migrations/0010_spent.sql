-- What models cost, one row for each request to one, whoever asked for it. The rows outlive the
-- journal, and hold no words of anybody.
CREATE TABLE spent (
    -- `turn/round` where it is a round of a turn.
    id TEXT NOT NULL PRIMARY KEY,
    -- NULL outside of turns, such as for a summary made before one.
    turn TEXT,
    session TEXT NOT NULL,
    user_name TEXT NOT NULL,
    -- Whose method asked, and which; NULL for a turn's own rounds.
    origin TEXT,
    method TEXT,
    model TEXT NOT NULL,
    tokens_in BIGINT NOT NULL,
    -- Both of tokens_in.
    cached BIGINT NOT NULL,
    written BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    -- Of tokens_out.
    reasoning BIGINT NOT NULL,
    -- In millionths; NULL where no price was known.
    money BIGINT,
    at BIGINT NOT NULL
);

CREATE INDEX spent_by_time ON spent (at);
CREATE INDEX spent_by_turn ON spent (turn) WHERE turn IS NOT NULL;
CREATE INDEX spent_by_user ON spent (user_name, at);
CREATE INDEX spent_by_session ON spent (session, at);

INSERT INTO spent (id, turn, session, user_name, model, tokens_in, cached, written, tokens_out,
                   reasoning, money, at)
    SELECT turn.id || '/' || CAST(round.number AS TEXT), turn.id, turn.session, turn.user_name,
           turn.model, round.tokens_in, 0, 0, round.tokens_out, 0, round.money, round.answered_at
    FROM round JOIN turn ON turn.id = round.turn WHERE round.answered_at IS NOT NULL;

-- Texts as the vectors that a model made of them.
CREATE TABLE embedding (
    model TEXT NOT NULL,
    -- Of the text.
    hash TEXT NOT NULL,
    -- Numbers of 4 bytes, little-endian.
    vector BYTEA NOT NULL,
    made_at BIGINT NOT NULL,
    PRIMARY KEY (model, hash)
);
