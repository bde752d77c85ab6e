"""What people are told who give a command of a native plugin."""

FOR_OPERATORS = {"en-US": "only operators may use /{name}", "zh-CN": "/{name} 只给管理员用"}
USAGE = {"en-US": "usage: {usage}", "zh-CN": "用法：{usage}"}
NO_VALUE = {"en-US": "--{option} needs a value", "zh-CN": "--{option} 后面要有内容"}
TOO_MUCH = {"en-US": "what to do with '{words}'?", "zh-CN": "“{words}”是多余的"}
MISSING = {"en-US": "{name} is missing", "zh-CN": "还缺 {name}"}
UNFIT = {"en-US": "{name}: '{word}' is not {wanted}", "zh-CN": "{name}：“{word}”不是 {wanted}"}
