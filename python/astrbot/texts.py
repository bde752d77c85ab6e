"""Every text that users or models see because AstrBot 4.27.4 shows it: interface facts, kept in one place."""

# Commands and filters
ARGUMENT_MISSING = "必要参数缺失。该指令完整参数: {types}"
ARGUMENT_TYPE = "参数 {name} 类型错误。完整参数: {types}"
ARGUMENT_BOOLEAN = "参数 {name} 必须是布尔值（true/false, yes/no, 1/0）。"
GREEDY_LAST = "参数 '{name}' (GreedyStr) 必须是最后一个参数。"
GROUP_USAGE = "参数不足。{group} 指令组下有如下指令，请参考：\n{tree}"
NO_ARGUMENTS = "无参数指令"
FILTER_ERROR = "插件 {plugin}: {error}"
NO_PERMISSION = "您(ID: {user})的权限不足以使用此指令。通过 /sid 获取 ID 并请管理员添加。"
HANDLER_ERROR = ":(\n\n在调用插件 {plugin} 的处理函数 {handler} 时出现异常：{error}"
GROUP_REGISTRATION = "注册指令组失败。"
WAIT_TIMEOUT = "等待超时"
SESSION_FILTER_TYPE = "session_filter 必须是 SessionFilter"

# Outlines of messages
OUTLINE_IMAGE = "[图片]"
OUTLINE_AUDIO = "[音频]"
OUTLINE_FACE = "[表情:{id}]"
OUTLINE_AT = "[At:{target}]"
OUTLINE_FORWARD = "[转发消息]"
OUTLINE_REPLY = "[引用消息]"
OUTLINE_REPLY_TEXT = "[引用消息({name}: {text})]"
READABLE_TOOL_CALL = "Assistant: [函数调用] {calls}"
READABLE_UNKNOWN = "Assistant: [未知的内容]"

# Tools
TOOL_TYPE_MISSING = "LLM 函数工具 {tool} 的参数 {name} 缺少类型注释。"
TOOL_TYPE_UNSUPPORTED = "LLM 函数工具 {tool} 不支持的参数类型：{type}"
TOOL_ERROR = "error: {error}"
TOOL_TIMEOUT = "tool {name} execution timeout after {seconds} seconds."
TOOL_MISMATCH = (
    "Tool handler parameter mismatch, please check the handler definition. Handler parameters: {parameters}"
)
TOOL_NO_PARAMETERS = "(no additional parameters)"
TOOL_VALUE_ERROR = "Tool execution ValueError: {error}"
TOOL_EXECUTION_ERROR = "Tool execution error: {error}. Traceback: {trace}"
TOOL_NO_HANDLER = "Tool must have a valid handler or override 'run' method."
TOOL_NO_VALUE = "The tool has no return value, or has sent the result directly to the user."
TOOL_NO_CONTENT = "The tool returned no content."
TOOL_UNSUPPORTED = "The tool has returned a data type that is not supported."
TOOL_IMAGE = (
    "Image returned and cached at path='{path}'. "
    "Review the image below. Use send_message_to_user to send it to the user if satisfied, "
    "with type='image' and path='{path}'."
)
TOOL_REPEATED = {
    3: (
        "\n\n[SYSTEM NOTICE] By the way, you have executed the same tool `{tool}` with the same arguments "
        "{times} times consecutively. Double-check whether another tool, different arguments, or a summary "
        "would move the task forward better."
    ),
    4: (
        "\n\n[SYSTEM NOTICE] Important: you have executed the same tool `{tool}` with the same arguments "
        "{times} times consecutively. Unless this repetition is clearly necessary, stop repeating the same "
        "action and either switch tools, refine parameters, or summarize what is still missing."
    ),
    5: (
        "\n\n[SYSTEM NOTICE] Important: you have executed the same tool `{tool}` with the same arguments "
        "{times} times consecutively. Repetition is now very high. Continue only if each call is clearly "
        "producing new information. Otherwise, change strategy, adjust arguments, or explain the limitation "
        "to the user."
    ),
}
TOOL_BACKGROUND = "Background task submitted. task_id={task}"
TOOL_DENIED = (
    "error: Permission denied. The tool '{tool}' requires admin privileges. Your ID: {user}. "
    "Ask admin to configure in WebUI → Extension → Components."
)
HANDOFF_DESCRIPTION = "Delegate tasks to {agent} agent to handle the request."
HANDOFF_BACKGROUND = (
    "Background task dedicated to subagent '{agent}' submitted. task_id={task}. "
    "The subagent '{agent}' is working on the task on hehalf you. "
    "You will be notified when it finishes."
)
LAST_STEP = (
    "Maximum tool call limit reached. Stop calling tools, and based on the information you have gathered, "
    "summarize your task and findings, and reply to the user directly."
)
LAST_STEP_OF_CHAT = (
    "工具调用次数已达到上限，请停止使用工具，并根据已经收集到的信息，对你的任务和发现进行总结，然后直接回复用户。"
)
LOOP_WITHOUT_ANSWER = "Agent did not produce a final LLM response"
LLM_ERROR = "LLM 响应错误: {error}"
LLM_ERROR_UNKNOWN = "未知错误"
AGENT_ERROR = "Error occurred while processing agent request: {error}"

# Providers, conversations, personas
PROVIDER_NOT_THERE = (
    "LLM 请求失败：未找到指定的提供商 `{id}`。请检查提供商配置或重新选择可用模型。"
)
PROVIDER_NOT_FOUND = "Provider {id} not found"
EMPTY_OUTPUT = "OpenAI completion has no usable output. response_id={id}, finish_reason=stop"
NO_PROVIDER = "Provider not found"
CONVERSATION_NOT_FOUND = "Conversation with id {id} not found"
PERSONA_MISSING = "Persona with ID {id} does not exist."
PERSONA_EXISTS = "Persona with ID {id} already exists."
DEFAULT_PERSONA_PROMPT = "You are a helpful and friendly assistant."
PERSONA_ODD_DIALOGS = "{name} 人格情景预设对话格式不对，条数应该为偶数。"
BAD_SESSION = "不合法的 session 字符串: {error}"
NOT_A_URL = "not a valid url"
CONFIG_TYPE = "不受支持的配置类型 {type}。支持的类型有：{known}"
CONFIG_KEY_MISSING = "没有找到 Key: '{key}'"
NO_STAR_CLASS = (
    "插件 {plugin} 未通过 Star 注册，也没有找到旧版插件类。"
    "请确认插件主类继承 astrbot.api.star.Star，或类名以 Plugin 结尾 / 命名为 Main。"
)
KB_NEEDS_EMBEDDING = "创建知识库时必须提供embedding_provider_id"
KB_NO_EMBEDDING = "无法找到 ID 为 {id} 的 Embedding Provider"
KB_EXISTS = "知识库名称 '{name}' 已存在"
KB_HEAD = "以下是相关的知识库内容,请参考这些信息回答用户的问题:\n"
KB_ITEM = "【知识 {number}】\n来源: {base} / {document}\n内容: {text}\n相关度: {score:.2f}\n"
