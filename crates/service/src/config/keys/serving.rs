//! Keys of who is served: when to speak, budgets, the network, plugins and clients.

use super::{Key, Shape};

pub(super) const SERVING: &[Key] = &[
    Key {
        name: "answer.private",
        shape: Shape::Flag,
        default: "true",
        meaning: "Answer every message of a private chat.",
    },
    Key {
        name: "answer.mentioned",
        shape: Shape::Flag,
        default: "true",
        meaning: "Answer where the bot is mentioned.",
    },
    Key {
        name: "answer.replied",
        shape: Shape::Flag,
        default: "true",
        meaning: "Answer replies to what the bot has said.",
    },
    Key {
        name: "answer.prefixes",
        shape: Shape::Names,
        default: "[]",
        meaning: "Answer messages that begin with one of these.",
    },
    Key {
        name: "answer.names",
        shape: Shape::Names,
        default: "[]",
        meaning: "Answer messages that contain one of these. Such a message is not said to the bot, and \
                  is held to `pace`; so are those of `patterns` and `probability`.",
    },
    Key {
        name: "answer.patterns",
        shape: Shape::Names,
        default: "[]",
        meaning: "Answer messages in which one of these regular expressions is found.",
    },
    Key {
        name: "answer.probability",
        shape: Shape::Fraction,
        default: "0.0",
        meaning: "Answer any message with this probability.",
    },
    Key {
        name: "answer.judge",
        shape: Shape::Text,
        default: "\"\"",
        meaning: "The id of a model, best a cheap one, that is shown the last messages of a group and \
                  decides whether to answer the newest, where nothing above has. Held to `pace`, within \
                  every budget. Empty is none.",
    },
    Key {
        name: "answer.judge_when",
        shape: Shape::Text,
        default: "\"\"",
        meaning: "What the judge is told besides, such as `Answer questions about cooking.`",
    },
    Key {
        name: "answer.accounts",
        shape: Shape::Names,
        default: "[]",
        meaning: "The bot's own ids on its platforms: a mention of one is a mention of the bot.",
    },
    Key {
        name: "answer.allow",
        shape: Shape::Names,
        default: "[]",
        meaning: "Answer only these people, if any are listed, each as `PLATFORM:ACCOUNT`, such as \
                  `onebot:10001`.",
    },
    Key {
        name: "answer.block",
        shape: Shape::Names,
        default: "[]",
        meaning: "Never answer these people, each as `PLATFORM:ACCOUNT`.",
    },
    Key {
        name: "pace.cooldown_seconds",
        shape: Shape::Number,
        default: "0",
        meaning: "For so long after anything it said in a group, the bot answers there only what is \
                  said to it: mentions, replies, prefixes and commands. How all of this works \
                  together is in [speaking.md](speaking.md). A session can have each key of `pace` \
                  and `answer` for itself.",
    },
    Key {
        name: "pace.per_hour",
        shape: Shape::Number,
        default: "0",
        meaning: "Answers that nobody asked for, at most, in any hour of one group; 0 is no limit. \
                  What is said to the bot is answered all the same and does not count.",
    },
    Key {
        name: "pace.quiet_hours",
        shape: Shape::Names,
        default: "[]",
        meaning: "Parts of the day in which the bot keeps quiet in groups, each as `23:00-07:30`.",
    },
    Key {
        name: "pace.quiet",
        shape: Shape::Choice("\"unaddressed\" or \"everything\""),
        default: "\"unaddressed\"",
        meaning: "What goes unanswered in quiet hours: what was not said to the bot, or everything.",
    },
    Key {
        name: "pace.time_zone",
        shape: Shape::Text,
        default: "\"\"",
        meaning: "Of quiet hours: a name such as `Asia/Shanghai`, or `+08:00`. Empty is the machine's.",
    },
    Key {
        name: "pace.stale_seconds",
        shape: Shape::Number,
        default: "0",
        meaning: "A message that is older than this when its platform delivers it, such as after a \
                  lost connection, is kept and not answered; 0 answers however late.",
    },
    Key {
        name: "pace.join_seconds",
        shape: Shape::Number,
        default: "0",
        meaning: "For so long the bot waits for more before it answers a message, and answers all of it \
                  together; 0 is `agent.debounce_ms`.",
    },
    Key {
        name: "budget.turn_tokens",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Tokens, in and out, that models may use in one turn, with everything its agents \
                  and plugins ask of models. Budgets hold before a request is sent: one that \
                  could take more than is left, counted on the high side, is not made, and an \
                  answer ends where the budget does.",
    },
    Key {
        name: "budget.turn_calls",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Calls of methods in one turn.",
    },
    Key {
        name: "budget.turn_seconds",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Seconds of work in one turn.",
    },
    Key {
        name: "budget.turn_money",
        shape: Shape::Amount,
        default: "no limit",
        meaning: "What models may cost in one turn, with everything its agents and plugins ask \
                  of models. In the currency of prices (those that come with the product are in \
                  US dollars). Within a budget of money a model whose price is not known is not \
                  asked: give it a `price` in `models.list`.",
    },
    Key {
        name: "budget.conversation_tokens",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Tokens, in and out, that models may use in one conversation.",
    },
    Key {
        name: "budget.conversation_calls",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Calls of methods in one conversation.",
    },
    Key {
        name: "budget.conversation_seconds",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Seconds of work in one conversation.",
    },
    Key {
        name: "budget.conversation_money",
        shape: Shape::Amount,
        default: "no limit",
        meaning: "What models may cost in one conversation.",
    },
    Key {
        name: "budget.user_day_tokens",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Tokens, in and out, that models may use for one user on one day (UTC).",
    },
    Key {
        name: "budget.user_day_calls",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Calls of methods by one user on one day (UTC).",
    },
    Key {
        name: "budget.user_day_seconds",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Seconds of work for one user on one day (UTC).",
    },
    Key {
        name: "budget.user_day_money",
        shape: Shape::Amount,
        default: "no limit",
        meaning: "What models may cost for one user on one day (UTC).",
    },
    Key {
        name: "budget.session_day_tokens",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Tokens, in and out, that models may use in one chat on one day (UTC).",
    },
    Key {
        name: "budget.session_day_calls",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Calls of methods in one chat on one day (UTC).",
    },
    Key {
        name: "budget.session_day_seconds",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Seconds of work in one chat on one day (UTC).",
    },
    Key {
        name: "budget.session_day_money",
        shape: Shape::Amount,
        default: "no limit",
        meaning: "What models may cost in one chat on one day (UTC).",
    },
    Key {
        name: "budget.day_tokens",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Tokens, in and out, that models may use for everybody on one day (UTC).",
    },
    Key {
        name: "budget.day_calls",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Calls of methods by everybody on one day (UTC).",
    },
    Key {
        name: "budget.day_seconds",
        shape: Shape::Count,
        default: "no limit",
        meaning: "Seconds of work for everybody on one day (UTC).",
    },
    Key {
        name: "budget.day_money",
        shape: Shape::Amount,
        default: "no limit",
        meaning: "What models may cost for everybody on one day (UTC).",
    },
    Key {
        name: "fetch.allow",
        shape: Shape::Names,
        default: "[]",
        meaning: "Hosts that `fetch_page` may get pages from: `example.com`, `*.example.com`, or \
                  `*` for every public one. Addresses that are not public are never fetched.",
    },
    Key {
        name: "plugins.source_packages",
        shape: Shape::Flag,
        default: "false",
        meaning: "Whether packages that plugins need are built from source where there is no \
                  ready-made wheel. Building runs the package's own code, behind the wall of \
                  plugins.",
    },
    Key {
        name: "plugins.prefer",
        shape: Shape::Names,
        default: "[]",
        meaning: "Methods that their names mean where others are called the same, such as `builtin/recall` \
                  or `plugin:notes/recall`. Otherwise a plugin's method comes before a built-in one; \
                  the other is still called by its full name.",
    },
    Key {
        name: "plugins.folders",
        shape: Shape::Names,
        default: "[]",
        meaning: "Folders of this machine that all plugins may read and write, such as one with \
                  music or models. Of other files they see the system's, read-only, and their own.",
    },
    Key {
        name: "plugins.local_addresses",
        shape: Shape::Names,
        default: "[]",
        meaning: "Addresses of this machine (loopback) and of its own link (169.254.0.0/16, fe80::/10, \
                  a cloud's metadata) that plugins may reach: `127.0.0.1:6333`, `localhost:8080`, \
                  `169.254.7.1` for all its ports, or `*` for every one. The internet and other \
                  machines of your network are open to plugins anyway, and so are their own servers, \
                  the resolver of names, and a proxy that `HTTP_PROXY` names.",
    },
    Key {
        name: "plugins.unwalled",
        shape: Shape::Flag,
        default: "false",
        meaning: "Whether plugins and installers run without a wall, where the kernel refuses one: \
                  they can then read and write whatever the user can who runs Callgate. \
                  `callgate serve --unwalled-plugins` says the same for one start; `callgate \
                  doctor` says what the kernel lacks.",
    },
    Key {
        name: "plugins.memory_mb",
        shape: Shape::Count,
        default: "8192",
        meaning: "How much address space one worker of plugins may have. Beyond it a plugin gets a \
                  `MemoryError`.",
    },
    Key {
        name: "serve.listen",
        shape: Shape::Choice("an address such as 127.0.0.1:8420"),
        default: "\"127.0.0.1:8420\"",
        meaning: "Where `callgate serve` listens; port 0 takes a free one.",
    },
    Key {
        name: "serve.hosts",
        shape: Shape::Names,
        default: "[]",
        meaning: "Names the server is reached by besides those of this machine itself, such as \
                  `gate.example.org`. Requests for other names are refused.",
    },
    Key {
        name: "serve.insecure",
        shape: Shape::Flag,
        default: "false",
        meaning: "Serve other machines without TLS: whoever is on the way can read keys and \
                  everything else. For a network you trust, or behind a proxy that does TLS.",
    },
    Key {
        name: "serve.tls_cert",
        shape: Shape::Text,
        default: "none",
        meaning: "A file with the certificate and those that it rests on, in PEM. With \
                  `serve.tls_key`, everything is served by TLS.",
    },
    Key {
        name: "serve.tls_key",
        shape: Shape::Text,
        default: "none",
        meaning: "A file with the certificate's private key, in PEM.",
    },
    Key {
        name: "serve.local_metrics",
        shape: Shape::Flag,
        default: "false",
        meaning: "Show `/metrics` without a key to programs on this machine. Everybody else needs a \
                  key of scope `metrics`.",
    },
    Key {
        name: "serve.drain_seconds",
        shape: Shape::Number,
        default: "10",
        meaning: "How long turns under way may take to finish once the server is told to end. What \
                  is not finished by then goes on at the next start.",
    },
    Key {
        name: "remote.listen",
        shape: Shape::Choice("an address such as 127.0.0.1:4000"),
        default: "none",
        meaning: "A further address that serves Socket.IO and static resources of remote clients \
                  and nothing else. Clients of SillyTavern-NewAge look at port 4000.",
    },
    Key {
        name: "remote.origins",
        shape: Shape::Names,
        default: "[]",
        meaning: "Pages that may connect by Socket.IO besides those on this machine and our own, \
                  such as `https://chat.example.org`. `*` allows every page; a key is needed all \
                  the same.",
    },
    Key {
        name: "remote.methods",
        shape: Shape::Names,
        default: "[]",
        meaning: "Methods that remote clients may call besides those made for them, such as \
                  `fetch_page` or `plugin:weather/forecast`.",
    },
    Key {
        name: "remote.restricted_files",
        shape: Shape::Names,
        default: "[]",
        meaning: "Files and folders under `remote/` in the data directory that no client may \
                  read, write or serve, such as `settings/server_settings.json`.",
    },
    Key {
        name: "remote.call_seconds",
        shape: Shape::Count,
        default: "5",
        meaning: "How long a remote client may take to answer a call of one of its functions.",
    },
    Key {
        name: "remote.calls_per_minute",
        shape: Shape::Count,
        default: "600000",
        meaning: "How many methods one key may call a minute, over HTTP, MCP and Socket.IO.",
    },
    Key {
        name: "remote.megabytes_per_hour",
        shape: Shape::Count,
        default: "4096",
        meaning: "How much one key may send an hour as arguments of methods.",
    },
];
