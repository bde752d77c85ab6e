-- One text for both engines. `{id}` is an ascending integer key that is never given out twice, `{bytes}`
-- the type of bytes, `{compact}` keeps the rows of a table in the order of its key.
-- Ids are 16 bytes, times milliseconds since 1970, booleans 0 or 1, hashes SHA-256 in hex, JSON is TEXT.
-- Text that code or a model wrote is bytes, since PostgreSQL refuses NUL characters in TEXT.

CREATE TABLE checked (
    id BIGINT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL
);

CREATE TABLE session (
    number {id},
    session TEXT NOT NULL UNIQUE,
    id {bytes} NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

-- Instances that share the database. Where one process owns it, as with SQLite, there are none, and
-- nobody holds anything. What an instance holds is held by its life: from a start of its process to the
-- end of it.
CREATE TABLE instance (
    -- A fresh one at every start; what `holder` and `claimed_by` name.
    life {bytes} NOT NULL PRIMARY KEY,
    -- Of the data directory, the same after a restart.
    name TEXT NOT NULL,
    -- The machine and the directory, so that a copy of the directory is told from a restart.
    place TEXT NOT NULL,
    -- By the database's clock.
    ends_at BIGINT NOT NULL
);

-- Turns are one at a time in a session.
CREATE TABLE lease (
    session TEXT NOT NULL PRIMARY KEY,
    holder {bytes} NOT NULL,
    -- Another one for each taking, so that nobody gives up what was taken after.
    token {bytes} NOT NULL
) {compact};

-- Every message in and out, and the system rows.
CREATE TABLE log (
    id {id},
    session TEXT NOT NULL,
    role TEXT NOT NULL,
    parts TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    sender TEXT,
    sender_name {bytes},
    -- When it came in; NULL for what no person sent.
    sender_role TEXT,
    -- NULL for the account `sender` on the session's platform.
    sender_principal TEXT,
    -- The id of the key that it came by; what it began ends with that.
    sender_key TEXT,
    -- The platform's own id of the message; NULL where it has none.
    message_id TEXT,
    hidden BIGINT NOT NULL DEFAULT 0,
    mentioned BIGINT NOT NULL DEFAULT 0,
    -- What the judge said of it, 1 to be answered; NULL where it was not asked.
    judged BIGINT,
    -- Looked at and in need of no answer.
    dismissed BIGINT NOT NULL DEFAULT 0,
    -- 1: listeners are dealing with it. Such a row counts as dismissed until they have spoken. 2: one of them
    -- has answered it.
    offered BIGINT NOT NULL DEFAULT 0,
    -- The beginning of an answer that was stopped, or broke off.
    unfinished BIGINT NOT NULL DEFAULT 0,
    -- Whose words it is that nobody in the chat has said.
    provenance TEXT,
    -- The turn that took an incoming row.
    turn {bytes},
    -- The journal (of a turn, a run or a call) that wrote an outgoing or system row.
    journal {bytes},
    -- Whoever took the message in, and decides what is done about it.
    holder {bytes},
    -- How the sender wants it answered; NULL where nothing was asked for.
    mode TEXT,
    model TEXT
);

CREATE INDEX log_by_session ON log (session, id);
CREATE UNIQUE INDEX log_by_message ON log (session, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX log_by_turn ON log (turn) WHERE turn IS NOT NULL;
CREATE INDEX log_by_journal ON log (journal) WHERE journal IS NOT NULL;
CREATE INDEX log_unanswered ON log (session, id)
    WHERE role = 'user' AND turn IS NULL AND hidden = 0 AND dismissed = 0;
CREATE INDEX log_spoken ON log (session, written_at) WHERE role = 'assistant';
CREATE INDEX log_offered ON log (id) WHERE offered = 1;
CREATE INDEX log_by_sender ON log (sender, written_at) WHERE sender IS NOT NULL;

-- Messages on their way out; delivered ones are gone.
CREATE TABLE outbox (
    id {id},
    session TEXT NOT NULL,
    parts TEXT NOT NULL,
    queued_at BIGINT NOT NULL,
    -- The instance that hands it over.
    claimed_by {bytes},
    -- Its row of the log; NULL where that does not have it.
    log BIGINT,
    -- A JSON array of the pieces that it is sent in; NULL for one, and until the first is sent.
    pieces TEXT,
    -- So many of them were delivered.
    done BIGINT NOT NULL DEFAULT 0,
    -- 1: the next one may have been sent, where doing so twice would do harm.
    intended BIGINT NOT NULL DEFAULT 0,
    -- 'queued'; for the operator to settle, 'unknown' (whether it was sent) or 'failed', and why.
    state TEXT NOT NULL DEFAULT 'queued',
    reason {bytes}
);

CREATE INDEX outbox_by_session ON outbox (session, id) WHERE state = 'queued';

-- What platforms call the messages that they have taken. They go with the log's row.
CREATE TABLE receipt (
    session TEXT NOT NULL,
    message_id TEXT NOT NULL,
    log BIGINT NOT NULL,
    PRIMARY KEY (session, message_id)
) {compact};

-- How far each platform's events were read, in its own words.
CREATE TABLE platform_cursor (
    platform TEXT NOT NULL PRIMARY KEY,
    cursor TEXT NOT NULL
) {compact};

CREATE TABLE conversation (
    id {bytes} NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    platform TEXT NOT NULL,
    title {bytes},
    persona {bytes},
    -- The history is what lies from first_position to last_position; a replaced one lies before.
    first_position BIGINT NOT NULL,
    last_position BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
) {compact};

CREATE INDEX conversation_by_session ON conversation (session, created_at);

-- Not a reference: Compat(astrbot) allows a session to point at an id that does not exist.
CREATE TABLE current_conversation (
    session TEXT NOT NULL PRIMARY KEY,
    conversation {bytes} NOT NULL
) {compact};

CREATE TABLE message (
    conversation {bytes} NOT NULL,
    position BIGINT NOT NULL,
    -- NULL once erased; the hash stays.
    message TEXT,
    hash TEXT NOT NULL,
    -- Set on a summary: the last position it stands for.
    covers BIGINT,
    turn {bytes},
    tokens BIGINT,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (conversation, position)
) {compact};

CREATE INDEX summary_by_conversation ON message (conversation, position)
    WHERE covers IS NOT NULL;

CREATE TABLE turn (
    id {bytes} NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    conversation {bytes},
    -- Who acts; `user_name` is what people and plugins call them by.
    principal TEXT NOT NULL,
    user_name TEXT NOT NULL,
    role TEXT NOT NULL,
    mode TEXT NOT NULL,
    model TEXT NOT NULL,
    persona {bytes},
    -- A JSON array; NULL allows every method.
    methods TEXT,
    parent {bytes},
    depth BIGINT NOT NULL,
    plan TEXT,
    started_at BIGINT NOT NULL,
    -- The life of the instance that works on it; NULL for nobody.
    holder {bytes},
    -- 1: it began under its session's lease, and whoever has that may resume it.
    leased BIGINT NOT NULL DEFAULT 0,
    -- NULL until the turn has ended.
    stop TEXT,
    report TEXT,
    finished_at BIGINT,
    -- Sub-agents not counted; complete once it has ended.
    calls BIGINT NOT NULL DEFAULT 0,
    millis BIGINT NOT NULL DEFAULT 0,
    -- 1: words of strangers were in it when it ended.
    tainted BIGINT NOT NULL DEFAULT 0,
    -- 1: nobody asked for it.
    unprompted BIGINT NOT NULL DEFAULT 0
) {compact};

CREATE INDEX turn_open ON turn (id) WHERE stop IS NULL;
CREATE INDEX turn_by_session ON turn (session, id);
CREATE INDEX turn_by_conversation ON turn (conversation, id) WHERE conversation IS NOT NULL;
CREATE INDEX turn_tainted ON turn (conversation) WHERE tainted = 1;
CREATE INDEX turn_unprompted ON turn (session, finished_at) WHERE unprompted = 1;
CREATE INDEX turn_by_parent ON turn (parent) WHERE parent IS NOT NULL;
CREATE INDEX turn_by_time ON turn (started_at, principal);

-- What models were asked and what it cost, one row for each request, whoever made it. The rounds of turns
-- are here with their words; the row outlives them, and then holds no words of anybody but those that
-- newer rounds of the conversation share.
CREATE TABLE model_request (
    id {id},
    -- NULL outside of turns, such as for a summary made before one.
    turn {bytes},
    -- Which round of the turn; NULL for what its methods asked for, and once the round is forgotten.
    round BIGINT,
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    user_name TEXT NOT NULL,
    -- Whose method asked, and which; NULL for a turn's own rounds.
    origin TEXT,
    method TEXT,
    -- Which answered, or is to.
    model TEXT NOT NULL,
    -- Words of its own; where parts of which rows' shared words come between them (JSON), NULL where it is
    -- whole; and words that newer requests of its conversation may have too.
    request TEXT,
    splices TEXT,
    shared TEXT,
    asked_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    -- NULL until the model has answered.
    answered_at BIGINT,
    reply TEXT,
    reply_hash TEXT,
    -- NULL where the model did not say.
    tokens_in BIGINT,
    -- Both of tokens_in.
    cached BIGINT,
    written BIGINT,
    tokens_out BIGINT,
    -- Of tokens_out.
    reasoning BIGINT,
    -- In millionths; NULL where no price was known.
    money BIGINT
);

CREATE UNIQUE INDEX model_request_by_round ON model_request (turn, round) WHERE round IS NOT NULL;
CREATE INDEX model_request_by_turn ON model_request (turn) WHERE turn IS NOT NULL AND round IS NULL;
CREATE INDEX model_request_sharing ON model_request (turn) WHERE shared IS NOT NULL;
CREATE INDEX model_request_by_time ON model_request (asked_at);
CREATE INDEX model_request_by_principal ON model_request (principal, asked_at);
CREATE INDEX model_request_by_session ON model_request (session, asked_at);

-- What listeners made of something on its way, where they changed it.
CREATE TABLE altered (
    turn {bytes} NOT NULL,
    -- 'said', 'call/N/arguments', 'call/N/result' or 'answer'.
    place TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (turn, place)
) {compact};

CREATE TABLE run (
    journal {bytes} NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    user_name TEXT NOT NULL,
    role TEXT NOT NULL,
    surface TEXT NOT NULL,
    code {bytes},
    -- A JSON array; NULL allows every method.
    methods TEXT,
    seed {bytes} NOT NULL,
    turn {bytes},
    round BIGINT,
    started_at BIGINT NOT NULL,
    holder {bytes},
    -- NULL until the run has ended.
    stop TEXT,
    report TEXT,
    finished_at BIGINT,
    -- The clocks it read after its last call (nanoseconds, 8 bytes each, little-endian), and whether it
    -- used threads, which have no order to repeat. NULL while it runs.
    clocks {bytes},
    threaded BIGINT
) {compact};

CREATE INDEX run_open ON run (journal) WHERE stop IS NULL OR stop = 'approval';
CREATE INDEX run_by_turn ON run (turn, journal) WHERE turn IS NOT NULL;
CREATE INDEX run_by_session ON run (session, journal) WHERE code IS NOT NULL;

CREATE TABLE call (
    journal {bytes} NOT NULL,
    sequence BIGINT NOT NULL,
    method TEXT NOT NULL,
    kind TEXT NOT NULL,
    effect TEXT NOT NULL,
    arguments {bytes} NOT NULL,
    -- Of the arguments, once they are erased.
    hash TEXT,
    -- Nanoseconds, 8 bytes each, little-endian.
    clocks {bytes} NOT NULL,
    threaded BIGINT NOT NULL,
    -- 'rule:ID', 'approval:ID' or 'configured:RULE'; NULL for the default.
    decided_by TEXT,
    -- 'value' or 'error'; NULL means that the call's outcome is unknown.
    outcome TEXT,
    value {bytes},
    text {bytes},
    parts TEXT,
    error {bytes},
    -- What only the operator reads of a failed call, such as a traceback.
    detail {bytes},
    micros BIGINT,
    PRIMARY KEY (journal, sequence)
) {compact};

-- Journals are named in the order of time, so that the newest calls of a method lie together.
CREATE INDEX call_by_method ON call (method, journal, sequence);

CREATE TABLE approval (
    id {id},
    journal {bytes} NOT NULL,
    sequence BIGINT NOT NULL,
    session TEXT NOT NULL,
    principal TEXT NOT NULL,
    method TEXT NOT NULL,
    -- The hash of its parameters.
    schema TEXT NOT NULL,
    arguments TEXT NOT NULL,
    -- Whose word it waits for: 'operator', or 'requester' for the person in whose name it is.
    approver TEXT NOT NULL,
    -- A JSON object that says why it is asked; NULL where a rule says so.
    reason TEXT,
    state TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    answered_at BIGINT,
    -- Who answered; NULL where that was not said.
    answered_by TEXT,
    UNIQUE (journal, sequence)
);

CREATE INDEX approval_pending ON approval (session, id) WHERE state = 'pending';

-- Who may call what: operators' rules and standing answers.
CREATE TABLE rule (
    id {id},
    -- A JSON object: whom and what it is about.
    conditions TEXT NOT NULL,
    decision TEXT NOT NULL,
    -- Of an answer: the hash of the method's parameters when it was given; NULL for a rule.
    schema TEXT,
    -- Of an answer for these alone; empty for any.
    arguments TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    made_by TEXT
);

-- How much somebody may ask for; a ban is a limit of no messages.
CREATE TABLE person_limit (
    id {id},
    -- A JSON array: whom and what it bounds. There is one limit about the same.
    about TEXT NOT NULL UNIQUE,
    -- All of it, as JSON.
    body TEXT NOT NULL,
    -- From then on it no longer holds; NULL for good.
    until BIGINT,
    made_at BIGINT NOT NULL,
    made_by TEXT NOT NULL
);

CREATE TABLE note (
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    text {bytes} NOT NULL,
    written_at BIGINT NOT NULL,
    PRIMARY KEY (session, name)
) {compact};

CREATE TABLE persona (
    id {id},
    name TEXT NOT NULL UNIQUE,
    system_prompt {bytes} NOT NULL,
    begin_dialogs TEXT,
    -- A JSON array; NULL allows every method.
    methods TEXT,
    mode TEXT NOT NULL,
    model TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE setting (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) {compact};

CREATE TABLE session_setting (
    session TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    version BIGINT NOT NULL
) {compact};

CREATE TABLE timer (
    id {bytes} NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    user_name TEXT NOT NULL,
    -- Who set it, with the role they had then; NULL for a plugin's own.
    principal TEXT,
    role TEXT,
    due_at BIGINT NOT NULL,
    text {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    state TEXT NOT NULL,
    -- Which kind of plugins is told; NULL for a text that arrives in its session.
    flavour TEXT,
    -- The plugin that set it; empty where nobody knows.
    plugin TEXT,
    -- What it is called by there, and the data that goes along (bytes of the value codec).
    name TEXT,
    payload {bytes},
    -- When it comes again; NULL for once.
    cron TEXT,
    timezone TEXT,
    -- Of one that the operator has planned: 'say' or 'ask', when it comes again, and 1 where quiet hours and caps
    -- do not hold for it.
    act TEXT,
    repeats TEXT,
    regardless BIGINT NOT NULL DEFAULT 0
) {compact};

CREATE INDEX timer_by_due ON timer (state, due_at);
CREATE INDEX timer_by_session ON timer (session, state);

-- Compat(nekro): values of a plugin by chat and user; an empty one means none.
CREATE TABLE plugin_data (
    id {id},
    plugin TEXT NOT NULL,
    chat TEXT NOT NULL,
    user_name TEXT NOT NULL,
    name TEXT NOT NULL,
    value {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (plugin, chat, user_name, name)
);

-- Compat(astrbot): any value by scope; the bytes are of the value codec.
CREATE TABLE preference (
    scope TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value {bytes} NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (scope, scope_id, name)
) {compact};

-- Texts as the vectors that a model made of them.
CREATE TABLE embedding (
    model TEXT NOT NULL,
    -- Of the text.
    hash TEXT NOT NULL,
    -- Numbers of 4 bytes, little-endian.
    vector {bytes} NOT NULL,
    made_at BIGINT NOT NULL,
    PRIMARY KEY (model, hash)
) {compact};

CREATE TABLE access_key (
    id TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    revoked_at BIGINT,
    -- The client that alone may use the key; NULL leaves the name to whoever holds it.
    client TEXT,
    -- What people call it.
    name TEXT,
    -- From then on it opens nothing.
    expires_at BIGINT,
    -- To the minute.
    last_used_at BIGINT
);

-- Sessions of the page: each was begun with a key and ends with it, or by itself.
CREATE TABLE login (
    id TEXT NOT NULL PRIMARY KEY,
    -- Of the text in the cookie, which is no key.
    hash TEXT NOT NULL UNIQUE,
    key_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX login_by_key ON login (key_id, created_at);

CREATE INDEX access_key_by_client ON access_key (client, created_at) WHERE client IS NOT NULL;

-- Clients that came without a key and asked to be let in.
CREATE TABLE client (
    id TEXT NOT NULL PRIMARY KEY,
    -- What it says of itself.
    kind TEXT NOT NULL,
    description {bytes} NOT NULL,
    -- The page it came from; NULL for a program.
    origin TEXT,
    -- 'pending', 'approved' or 'revoked'.
    state TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    decided_at BIGINT,
    -- The one key that the operator's answer is about: that of the page or program that asked.
    key TEXT
);

CREATE INDEX client_by_state ON client (state, asked_at);

-- Whose the names of remote clients are: client ids, and the identities by which a client tells its
-- instances apart. A name is bound by whoever uses it first and stays bound, also when the key goes.
CREATE TABLE client_name (
    name TEXT NOT NULL PRIMARY KEY,
    -- The user that the holder acts for: 'operator', 'key-<id>' or 'client-<id>'.
    owner TEXT NOT NULL,
    -- Of an instance, 1: clients may choose a new one at every start, so old ones make room.
    instance BIGINT NOT NULL,
    bound_at BIGINT NOT NULL
) {compact};

CREATE INDEX client_name_by_owner ON client_name (owner, instance, bound_at);

-- The last effectful call of each name that a client gave to a call.
CREATE TABLE request (
    -- Hashes: of the asker and the name, and of the call.
    id TEXT NOT NULL PRIMARY KEY,
    call TEXT NOT NULL,
    journal {bytes} NOT NULL,
    made_at BIGINT NOT NULL
) {compact};

CREATE INDEX request_by_time ON request (made_at);

-- Files and folders of clients that are served by HTTP.
CREATE TABLE resource (
    url TEXT NOT NULL PRIMARY KEY,
    path TEXT NOT NULL,
    client TEXT NOT NULL,
    added_at BIGINT NOT NULL
) {compact};

-- Rooms of remote clients: who is in them with which role, and what was said, which unlike the log
-- its writers may change. Names are printable; what was said is JSON, which escapes NUL.
CREATE TABLE room (
    name TEXT NOT NULL PRIMARY KEY,
    mode TEXT NOT NULL,
    created_at BIGINT NOT NULL
) {compact};

CREATE TABLE room_member (
    room TEXT NOT NULL,
    identity TEXT NOT NULL,
    role TEXT NOT NULL,
    -- NULL for one who may speak.
    muted_until BIGINT,
    joined_at BIGINT NOT NULL,
    PRIMARY KEY (room, identity)
) {compact};

CREATE INDEX room_member_by_identity ON room_member (identity);

CREATE TABLE room_message (
    position {id},
    room TEXT NOT NULL,
    id TEXT NOT NULL,
    identity TEXT NOT NULL,
    is_response BIGINT NOT NULL,
    -- Waits until the room's host submits.
    waiting BIGINT NOT NULL,
    body TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    edited_at BIGINT,
    UNIQUE (room, id)
);

CREATE INDEX room_message_by_position ON room_message (room, position);

-- What was brought from another system's folder, one row for each time, and what each of them made.
CREATE TABLE import (
    id {id},
    system TEXT NOT NULL,
    -- The folder, in full.
    source TEXT NOT NULL,
    made_at BIGINT NOT NULL,
    undone_at BIGINT
);

CREATE TABLE import_item (
    import BIGINT NOT NULL,
    kind TEXT NOT NULL,
    -- What it is called there, and here.
    name TEXT NOT NULL,
    made TEXT NOT NULL,
    -- Hashes of what stood there, and of what was made here: written before it is made.
    source_hash TEXT NOT NULL,
    made_hash TEXT NOT NULL,
    -- What stood here before, as JSON; NULL for nothing.
    previous TEXT,
    PRIMARY KEY (import, kind, name)
) {compact};
