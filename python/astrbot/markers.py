"""What plugins and models match on, letter by letter as AstrBot 4.27.4 has it: marks, prefixes and formats. What is
a sentence lies in `texts`, in words of our own."""

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

# Results of tools
TOOL_ERROR = "error: {error}"
TOOL_TIMEOUT = "tool {name} execution timeout after {seconds} seconds."
