"""What we say beside Nekro's plugins, in our own words: to people in their language, to models and to authors of
plugins in English. What programs match on lies in `markers`."""

from nekro_agent import markers

# To people

UNAUTHORIZED = {
    "super_user": {"zh-CN": markers.FOR_SUPER_USERS, "en-US": "Only the operator may give this command."},
    "advanced": {
        "zh-CN": "这条命令只给有高级权限的人用",
        "en-US": "You need more rights to give this command.",
    },
}
NOT_AN_ADMINISTRATOR = {
    "zh-CN": "{name}（{user}）不是这里的管理员",
    "en-US": "{name} ({user}) is no administrator here",
}
INVALID_ARGUMENT = {"zh-CN": "这样写不行：{error}", "en-US": "That does not fit: {error}"}
COMMAND_FAILED = {"zh-CN": "命令没能做完：{error}", "en-US": "The command could not finish: {error}"}
COMMAND_UNKNOWN = {"zh-CN": "没有 {name} 这条命令", "en-US": "There is no command {name}"}
COMMAND_AMBIGUOUS = {
    "zh-CN": "有几个插件都有 {name} 命令，请写明是哪一个：{candidates}",
    "en-US": "Several plugins have a command {name}; use one of {candidates}",
}
COMMAND_DISABLED = {"zh-CN": "{name} 命令被关掉了", "en-US": "The command {name} is disabled"}
ARGUMENT_MISSING = {"zh-CN": "还缺 {name}", "en-US": "{name} is missing"}
ARGUMENT_NOT_WHOLE = {"zh-CN": "{name} 要填整数", "en-US": "{name} is a whole number"}
ARGUMENT_NOT_NUMBER = {"zh-CN": "{name} 要填数字", "en-US": "{name} is a number"}
ARGUMENT_OUT_OF_RANGE = {
    "zh-CN": "{name} 最小 {low}，最大 {high}",
    "en-US": "{name} is at least {low} and at most {high}",
}
ARGUMENT_NOT_A_CHOICE = {"zh-CN": "{name} 只能是 {choices}", "en-US": "{name} is one of {choices}"}
WAIT_OPTIONS = {"zh-CN": "{message}\n可以回答：{options}", "en-US": "{message}\nYou can answer: {options}"}
WAIT_TIMEOUT = {"zh-CN": "等得太久，不再等了", "en-US": "No answer came in time; I no longer wait."}
PRESET_CHOSEN = {"zh-CN": "现在由 {name} 回答", "en-US": "{name} answers from now on"}
TASK_DONE = {"zh-CN": "做完了", "en-US": "done"}
TASK_CANCELLED = {"zh-CN": "不做了", "en-US": "cancelled"}
BAD_JOB_ID = {"zh-CN": "“{id}”不是周期任务的编号", "en-US": "'{id}' is no id of a recurring timer"}
NO_JOB = {"zh-CN": "没有编号为“{id}”的周期任务", "en-US": "there is no recurring timer '{id}'"}

# To models and to authors of plugins

TIMER_FIRED = "⏰ A timer has gone off: {text}"
RECURRING_FIRED = "⏰ A recurring timer has gone off: {text}"
FILE_NOT_SENT = "[file not sent: {path} ({reason})]"
SLEEPING = "{name} is asleep: {brief} (call activate_plugin('{module}') to use it)"

NO_ONEBOT = "no OneBot V11 bot is connected; this needs the OneBot platform, which is not configured"
NO_QDRANT = (
    "this needs the package qdrant-client, which is not installed here: "
    "run `callgate plugin install` for the plugin, which brings what Nekro's plugins rely on"
)
NO_MODEL_GROUP = "no model group '{name}'; there are: {known}"
NO_CHANNEL = "no chat '{chat_key}'"
NO_FILE = "there is no file '{path}'"
PATH_OUTSIDE = "'{path}' is not a file below /app/shared or /app/uploads"
PATH_ESCAPES = "'{path}' leads out of the session's folders"
PLATFORM_CANNOT = "the platform '{platform}' has no '{name}' here"
FEATURE_ABSENT = "{name} belongs to a part of Nekro Agent that is not here: {feature}"
DEFAULT_PRESET_NAME = "Assistant"
DEFAULT_PRESET_CONTENT = "You are a helpful assistant."
