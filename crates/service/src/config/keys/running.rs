//! Keys of what runs: database, sandbox, approvals, what is kept, models and the agent.

use super::{Key, Shape};

pub(super) const RUNNING: &[Key] = &[
    Key {
        name: "database.url",
        shape: Shape::Text,
        default: "SQLite in the data directory",
        meaning: "`postgres://user:password@host/name` keeps everything but files in PostgreSQL.",
    },
    Key {
        name: "database.durability",
        shape: Shape::Choice("\"process\" or \"power\""),
        default: "\"process\"",
        meaning: "What a finished call survives: the death of the process, or also a power cut, \
                  at the price of waiting for the disk.",
    },
    Key {
        name: "database.takeover_seconds",
        shape: Shape::Count,
        default: "15",
        meaning: "How long an instance that shares its database with others may be silent before they \
                  take over what it was doing. The same for all of them.",
    },
    Key {
        name: "sandbox.python",
        shape: Shape::Text,
        default: "/usr/bin/python3, else the first python3 in PATH",
        meaning: "The interpreter, CPython 3.11 or newer.",
    },
    Key {
        name: "sandbox.concurrent",
        shape: Shape::Count,
        default: "4 for each core",
        meaning: "How many runs compute at the same time. A run that waits for a call does not \
                  count.",
    },
    Key {
        name: "sandbox.pool",
        shape: Shape::Count,
        default: "2 for each core",
        meaning: "How many warm processes wait for the next run.",
    },
    Key {
        name: "sandbox.preload",
        shape: Shape::Names,
        default: "[]",
        meaning: "Modules imported once, before the first run, so that each run finds them ready.",
    },
    Key {
        name: "sandbox.wall_seconds",
        shape: Shape::Count,
        default: "120",
        meaning: "How long a run may take, not counting time inside calls.",
    },
    Key {
        name: "sandbox.cpu_seconds",
        shape: Shape::Count,
        default: "60",
        meaning: "How long a run may compute.",
    },
    Key {
        name: "sandbox.memory_mb",
        shape: Shape::Count,
        default: "512",
        meaning: "Memory of a run.",
    },
    Key {
        name: "sandbox.threads",
        shape: Shape::Count,
        default: "64",
        meaning: "Threads of a run.",
    },
    Key {
        name: "sandbox.output_mb",
        shape: Shape::Count,
        default: "16",
        meaning: "What a run may print before it is stopped.",
    },
    Key {
        name: "sandbox.disk_mb",
        shape: Shape::Count,
        default: "256",
        meaning: "Files of a session under `/app/shared`, over all its runs.",
    },
    Key {
        name: "sandbox.calls",
        shape: Shape::Count,
        default: "10000",
        meaning: "Calls of a run.",
    },
    Key {
        name: "approval.ask",
        shape: Shape::Names,
        default: "[]",
        meaning: "Methods that need your approval, such as `send_message` or `plugin:mail/send`; \
                  `*` is every method.",
    },
    Key {
        name: "approval.wait_seconds",
        shape: Shape::Number,
        default: "60",
        meaning: "How long a call waits for your answer. After that the run stops, and is \
                  continued when you answer.",
    },
    Key {
        name: "approval.known_values",
        shape: Shape::Names,
        default: "[]",
        meaning: "Recipients, paths, commands and URLs that an AI may choose whatever it has read; \
                  others it takes from what the person asking has said, or asks them first.",
    },
    Key {
        name: "journal.keep",
        shape: Shape::Number,
        default: "10000",
        meaning: "How many ended runs are kept on record. Runs that wait for an approval are \
                  always kept. What is too much is removed at the start and twice a minute.",
    },
    Key {
        name: "journal.keep_days",
        shape: Shape::Number,
        default: "0",
        meaning: "For how many days ended runs and the words of ended turns are kept; 0 is for ever.",
    },
    Key {
        name: "journal.keep_megabytes",
        shape: Shape::Number,
        default: "4096",
        meaning: "How much the arguments and results of calls may take up; the oldest go first. 0 is \
                  any amount.",
    },
    Key {
        name: "keep.log_days",
        shape: Shape::Number,
        default: "0",
        meaning: "For how many days messages stay in the log of a chat; 0 is for ever. What is not \
                  answered yet stays.",
    },
    Key {
        name: "keep.log_megabytes",
        shape: Shape::Number,
        default: "0",
        meaning: "How much the log of all chats may take up; the oldest messages go first. 0 is any \
                  amount.",
    },
    Key {
        name: "keep.turn_days",
        shape: Shape::Number,
        default: "0",
        meaning: "For how many days turns that have ended are known at all, with their runs and calls; \
                  0 is for ever.",
    },
    Key {
        name: "keep.spending_days",
        shape: Shape::Number,
        default: "0",
        meaning: "For how many days it is known what requests to models have cost; 0 is for ever. \
                  Budgets look back a day or a month: keep more than that. Requests whose words are on \
                  record stay until the journal forgets them.",
    },
    Key {
        name: "keep.outbox_days",
        shape: Shape::Number,
        default: "0",
        meaning: "For how many days a message waits for whoever is to deliver it; 0 is for ever. Its \
                  words stay in the log.",
    },
    Key {
        name: "keep.file_days",
        shape: Shape::Number,
        default: "0",
        meaning: "For how many days files of chats stay after they were last changed; 0 is for ever.",
    },
    Key {
        name: "keep.file_megabytes",
        shape: Shape::Number,
        default: "0",
        meaning: "How much the files of all chats may take up; the oldest go first. 0 is any amount.",
    },
    Key {
        name: "models.default",
        shape: Shape::Text,
        default: "the first of the list",
        meaning: "The model of chats that chose none: an id of the list, `demo`, or `script:FILE`.",
    },
    Key {
        name: "models.vision",
        shape: Shape::Text,
        default: "none",
        meaning: "The model that looks at images where a chat's own model cannot.",
    },
    Key {
        name: "models.embedding",
        shape: Shape::Text,
        default: "none",
        meaning: "The model that turns texts into vectors: methods are then searched by meaning.",
    },
    Key {
        name: "models.list",
        shape: Shape::Models,
        default: "[]",
        meaning: "Models, each a table `[[models.list]]`: see below. `callgate model add` writes \
                  one. With none, the keys of the environment are used, such as \
                  `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`; without those, \
                  Ollama (at `OLLAMA_HOST`) or llama.cpp on this machine; with nothing at all, a \
                  demo with fixed answers.",
    },
    Key {
        name: "agent.rounds",
        shape: Shape::Count,
        default: "30",
        meaning: "How often a model is asked in one turn; then once more, for its last word.",
    },
    Key {
        name: "agent.error_retries",
        shape: Shape::Number,
        default: "3",
        meaning: "How many answers whose code failed are given another chance in one turn.",
    },
    Key {
        name: "agent.call_timeout_seconds",
        shape: Shape::Count,
        default: "120",
        meaning: "How long one tool call may take.",
    },
    Key {
        name: "agent.depth",
        shape: Shape::Number,
        default: "5",
        meaning: "How deep agents may ask agents.",
    },
    Key {
        name: "agent.observation_bytes",
        shape: Shape::Count,
        default: "60000",
        meaning: "How much of a result goes to the model at once; the rest goes into a file under \
                  `/app/shared`.",
    },
    Key {
        name: "agent.history_tokens",
        shape: Shape::Count,
        default: "32000",
        meaning: "How long a conversation may grow before it is summarised.",
    },
    Key {
        name: "agent.debounce_ms",
        shape: Shape::Number,
        default: "600",
        meaning: "Messages of a platform that arrive within this time are answered together. The \
                  command line does not wait.",
    },
    Key {
        name: "agent.keep_requests",
        shape: Shape::Flag,
        default: "true",
        meaning: "Keep on record what models were asked, at the price of space.",
    },
    Key {
        name: "agent.administrators",
        shape: Shape::Names,
        default: "[]",
        meaning: "Accounts whose word counts as yours, each as \"PLATFORM:ACCOUNT\": the same \
                  account elsewhere is somebody else. At the command line it is yours.",
    },
];
