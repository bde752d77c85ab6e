"""Short texts that plugins and users observe, all in one place.

Compat(nekro): plugins compare some of these, and users know them; the others are our own words.
"""

UNAUTHORIZED = {
    "super_user": {"zh-CN": "此命令仅限超级用户使用", "en-US": "This command is for super users only"},
    "advanced": {"zh-CN": "此命令仅限高级用户使用", "en-US": "This command is for advanced users only"},
}
INVALID_ARGUMENT = {"zh-CN": "参数错误: {error}", "en-US": "Invalid argument: {error}"}
COMMAND_FAILED = {"zh-CN": "命令执行出错: {error}", "en-US": "Command execution error: {error}"}
COMMAND_UNKNOWN = {"zh-CN": "命令不存在: {name}", "en-US": "There is no command {name}"}
COMMAND_AMBIGUOUS = {
    "zh-CN": "命令 {name} 存在多个来源，请使用完整名称: {candidates}",
    "en-US": "Several plugins have a command {name}; use one of {candidates}",
}
COMMAND_DISABLED = {"zh-CN": "命令已禁用: {name}", "en-US": "The command {name} is disabled"}
ARGUMENT_MISSING = {"zh-CN": "缺少必填参数: {name}", "en-US": "Missing required argument: {name}"}
ARGUMENT_NOT_WHOLE = {"zh-CN": "参数 {name} 需要整数类型", "en-US": "Argument {name} requires integer type"}
ARGUMENT_NOT_NUMBER = {"zh-CN": "参数 {name} 需要数值类型", "en-US": "Argument {name} requires numeric type"}
ARGUMENT_OUT_OF_RANGE = {
    "zh-CN": "参数 {name} 的值需在 {low}-{high} 之间",
    "en-US": "Argument {name} must be between {low} and {high}",
}
ARGUMENT_NOT_A_CHOICE = {
    "zh-CN": "参数 {name} 的值必须是 {choices} 之一",
    "en-US": "Argument {name} must be one of {choices}",
}
WAIT_OPTIONS = {"zh-CN": "{message}\n可选: {options}", "en-US": "{message}\nOptions: {options}"}
WAIT_TIMEOUT = {"zh-CN": "操作超时，已取消", "en-US": "Timed out, cancelled"}

TIMER_FIRED = "⏰ 定时提醒：{text}"
RECURRING_FIRED = "⏰ 周期任务提醒：{text}"
FILE_NOT_SENT = "[file not sent: {path} ({reason})]"
AGENT_MARK = " - **[AGENT METHOD - STOP AFTER CALL]**"
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
