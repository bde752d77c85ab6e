"""What we say beside AstrBot's plugins, in our own words: to people in their language (`callgate_worker.language`),
to models and to authors of plugins in English. What programs match on lies in `markers`."""

# To people

ARGUMENT_MISSING = {
    "en-US": "something is missing. The command takes: {types}",
    "zh-CN": "还缺内容。这条命令需要：{types}",
}
ARGUMENT_TYPE = {
    "en-US": "what you gave for '{name}' does not fit. The command takes: {types}",
    "zh-CN": "“{name}”填得不合适。这条命令需要：{types}",
}
ARGUMENT_BOOLEAN = {
    "en-US": "'{name}' is yes or no",
    "zh-CN": "“{name}”只能填 yes 或 no",
}
GROUP_USAGE = {
    "en-US": "'{group}' needs one of these after it:\n{tree}",
    "zh-CN": "“{group}”后面要跟下面的一项：\n{tree}",
}
NO_ARGUMENTS = {"en-US": "takes nothing", "zh-CN": "不带内容"}
FILTER_FAILED = {"en-US": "{plugin}: {error}", "zh-CN": "{plugin}：{error}"}
NO_PERMISSION = {
    "en-US": "This command is for administrators. Whoever runs this server can make you one: your account for "
    "agent.administrators is {account}",
    "zh-CN": "这条命令只给管理员用。想成为管理员，请让服务器的主人把账号 {account} 写进 agent.administrators",
}
HANDLER_FAILED = {
    "en-US": "{plugin} could not finish: {error} (in {handler})",
    "zh-CN": "{plugin} 没能做完：{error}（出自 {handler}）",
}
MODEL_SILENT = {"en-US": "The model gave no answer.", "zh-CN": "模型没有给出回答。"}
TURN_FAILED = {"en-US": "I could not answer this: {error}", "zh-CN": "这次没能回答：{error}"}
PROVIDER_NOT_THERE = {
    "en-US": "The model '{id}' was chosen for this message, and there is none of that name. /model shows which "
    "there are.",
    "zh-CN": "这条消息选用了模型“{id}”，但这里没有它。发送 /model 可以看到有哪些。",
}
PERSONA_MISSING = {"en-US": "there is no persona '{id}'", "zh-CN": "没有名为“{id}”的人格"}
PERSONA_EXISTS = {"en-US": "there is a persona '{id}' already", "zh-CN": "已经有名为“{id}”的人格"}
KB_EXISTS = {"en-US": "there is a knowledge base '{name}' already", "zh-CN": "已经有名为“{name}”的知识库"}
WAIT_TIMEOUT = {"en-US": "no further message came in time", "zh-CN": "没有等到下一条消息"}

# To models

TOOL_MISMATCH = "the tool cannot take these arguments; its own are: {parameters}"
TOOL_NO_PARAMETERS = "(none)"
TOOL_VALUE_ERROR = "the tool refuses a value: {error}"
TOOL_EXECUTION_ERROR = "the tool could not begin: {error}\n{trace}"
TOOL_NO_VALUE = "[The tool gave nothing back. If it had something to say, the user has it already.]"
TOOL_NO_CONTENT = "[The result is empty.]"
TOOL_UNSUPPORTED = "[A part of the result is neither text nor picture and is left out.]"
TOOL_IMAGE = "[A picture, which follows. It is kept as {path}]"
TOOL_REPEATED = {
    3: "\n\n[{times} times in a row you called {tool} with the same arguments. Ask yourself what else would help.]",
    4: "\n\n[{times} times in a row you called {tool} with the same arguments. Change them, take another tool, or "
    "say what is missing.]",
    5: "\n\n[{times} times in a row you called {tool} with the same arguments, and it tells you nothing new. Leave "
    "it: go another way, or tell the user why you cannot.]",
}
TOOL_BACKGROUND = "[It goes on in the background, task_id={task}. Its end will be told here.]"
TOOL_DENIED = (
    "error: {tool} is for administrators, and {user} is none. The operator names them in agent.administrators."
)
TOOL_NOTHING_TO_CALL = "this tool has nothing that could be called"
HANDOFF_DESCRIPTION = "Let the agent {agent} do a task."
HANDOFF_BACKGROUND = "[The agent {agent} works on it in the background, task_id={task}. Its end will be told here.]"
LAST_STEP = "No tool can be called any more. Answer now, with what you have found out."
KB_HEAD = "From the knowledge bases; use what helps with the answer:\n"
KB_ITEM = "({number}) {base} / {document}, relevance {score:.2f}:\n{text}\n"
DEFAULT_PERSONA_PROMPT = "You help people with what they ask, kindly and to the point."

# To authors of plugins

GREEDY_LAST = "'{name}' is a GreedyStr, which takes all that is left: put it last"
GROUP_REGISTRATION = "a command group is registered by decorating a function with it"
SESSION_FILTER_TYPE = "session_filter is no SessionFilter"
TOOL_TYPE_MISSING = "the tool {tool} does not say of which type its parameter '{name}' is"
TOOL_TYPE_UNSUPPORTED = "the tool {tool} has a parameter of type '{type}', which tools cannot have"
TOOL_NO_HANDLER = "a tool needs a handler, or a method `call` or `run` of its own"
TOOL_NOT_WRITTEN = "this tool has neither a handler nor a `call` of its own"
LOOP_WITHOUT_ANSWER = "the agent ended without an answer"
PROVIDER_NOT_FOUND = "there is no model '{id}'"
NO_PROVIDER = "no model is configured for this chat"
EMPTY_OUTPUT = "the model answered with nothing (answer {id})"
CONVERSATION_NOT_FOUND = "there is no conversation '{id}'"
PERSONA_ODD_DIALOGS = "the opening lines of the persona {name} are left out: each needs its answer"
BAD_SESSION = "this names no session: {error}"
NOT_A_URL = "expected an address that begins with http:// or https://"
NO_SOURCE = "there is neither a file nor an address"
NOT_A_FILE = "there is no file {source}"
CONFIG_TYPE = "the type '{type}' of a setting is not known; there are: {known}"
CONFIG_KEY_MISSING = "there is no setting '{key}'"
NO_STAR_CLASS = (
    "{plugin} defines no plugin: derive a class from astrbot.api.star.Star (or call an old one Main, or ...Plugin)"
)
NO_ENTRY = "{directory} holds no plugin: it needs main.py or {directory}.py"
KB_NEEDS_EMBEDDING = "a knowledge base needs embedding_provider_id"
KB_NO_EMBEDDING = "there is no embedding model '{id}'"
NOT_IN_A_ROUTE = "`request` is there only while a route of the plugin is being answered"
PART_WITHOUT_TYPE = "{name} is a ContentPart and needs a text as its `type`"
MESSAGE_WITHOUT_CONTENT = "only an assistant's message with tool calls may be without content"
NOT_A_FILTER = "only a CustomFilter can be combined with a CustomFilter"
NO_CALLER = "tell get_data_dir the plugin's name: it was called from no module"
NO_PLUGIN_OF_MODULE = "tell get_data_dir the plugin's name: {module} belongs to none"
NO_PLUGIN_NAME = "tell get_data_dir the plugin's name: it has none"
NO_FOLDER = "cannot make the folder {folder}: {error}"
AGENTS_NOT_A_LIST = "the agents to delegate to are not given as a list, so there are none"
PREFERENCE_WITHOUT_KEY = "a preference needs scope_id and key"
BAD_VERSION_RANGE = "astrbot_version is no version range; write it as >=4.16,<5"
OTHER_VERSION = "the plugin wants AstrBot {wanted}, and here it finds {version}"
