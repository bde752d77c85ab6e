"""The host's settings in the shape plugins read them: `config`, one object for the whole process.

Compat(nekro): names and defaults are Nekro Agent's. The model groups are the host's models. Keys and
addresses of providers stay in the host: a group has the host's own address and a key lent to the plugin.
"""

from pathlib import Path
from typing import Any, Literal

from callgate_worker import host

from nekro_agent import texts
from nekro_agent.core.core_utils import ConfigBase
from nekro_agent.core.os_env import OsEnv
from nekro_agent.schemas.i18n import SupportedLang, set_system_lang

CONFIG_DIR = Path(OsEnv.DATA_DIR) / "configs"
CONFIG_PATH = CONFIG_DIR / "nekro-agent.yaml"
CHANNEL_CONFIG_DIR = CONFIG_DIR / "channels"


class ModelConfigGroup(ConfigBase):
    """One model. `CHAT_MODEL` is its id in the host."""

    GROUP_NAME: str = ""
    CHAT_MODEL: str = ""
    CHAT_PROXY: str = ""
    BASE_URL: str = ""
    API_KEY: str = ""
    MODEL_TYPE: Literal["chat", "embedding", "draw"] = "chat"
    ENABLE_VISION: bool = False
    ENABLE_COT: bool = False
    TOKEN_INPUT_RATE: float = 1.0
    TOKEN_COMPLETION_RATE: float = 1.0
    MODEL_PRICE_RATE: float = 1.0
    TEMPERATURE: float | None = None
    TOP_P: float | None = None
    TOP_K: int | None = None
    PRESENCE_PENALTY: float | None = None
    FREQUENCY_PENALTY: float | None = None
    EXTRA_BODY: str | None = None


class CoreConfig(ConfigBase):
    SYSTEM_LANG: Literal["zh-CN", "en-US"] = "zh-CN"
    ENABLE_NEKRO_CLOUD: bool = False
    NEKRO_CLOUD_API_KEY: str = ""
    ENSURE_SFW_CONTENT: bool = True
    APP_LOG_LEVEL: Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] = "INFO"
    SUPER_USERS: list[str] = []
    COMMAND_ENABLED: bool = True
    COMMAND_MATCH_ALLOW_HYPHEN_FOR_UNDERSCORE: bool = True
    ENABLE_COMMAND_UNAUTHORIZED_OUTPUT: bool = True
    ENABLE_ADVANCED_COMMAND: bool = True
    DEBUG_IN_CHAT: bool = False
    SAVE_PROMPTS_LOG: bool = False
    MAX_UPLOAD_SIZE_MB: int = 10
    DEFAULT_PROXY: str = ""
    DEFAULT_PROXY_USERNAME: str = ""
    DEFAULT_PROXY_PASSWORD: str = ""
    MODEL_GROUPS: dict[str, ModelConfigGroup] = {}
    USE_MODEL_GROUP: str = "default"
    DEBUG_MIGRATION_MODEL_GROUP: str = "default"
    FALLBACK_MODEL_GROUP: str = "default"
    PLUGIN_GENERATE_MODEL_GROUP: str = "default"
    PLUGIN_APPLY_MODEL_GROUP: str = "default"
    AI_CHAT_DEFAULT_PRESET_ID: int | None = None
    AI_CHAT_PRESET_NAME: str = texts.DEFAULT_PRESET_NAME
    AI_CHAT_PRESET_SETTING: str = texts.DEFAULT_PRESET_CONTENT
    AI_CHAT_CONTEXT_EXPIRE_SECONDS: int = 1800
    AI_CHAT_CONTEXT_MAX_LENGTH: int = 32
    AI_SCRIPT_MAX_RETRY_TIMES: int = 3
    AI_CHAT_LLM_API_MAX_RETRIES: int = 3
    AI_DEBOUNCE_WAIT_SECONDS: float = 0.9
    AI_GENERATE_TIMEOUT: int = 180
    AI_IGNORED_PREFIXES: list[str] = ["#", "＃", "[Debug]", "[Opt Output]", "≡NA≡"]
    AI_COMMAND_OUTPUT_PREFIX: str = "≡NA≡:"
    AI_CHAT_DAILY_REPLY_LIMIT: int = 0
    AI_CHAT_ENABLE_HOURLY_LIMIT: bool = False
    AI_CHAT_QUOTA_WHITELIST_USERS: list[str] = []
    AI_CHAT_QUOTA_SUPER_USERS_EXEMPT: bool = True
    AI_CHAT_RANDOM_REPLY_PROBABILITY: float = 0.0
    AI_CHAT_TRIGGER_REGEX: list[str] = []
    AI_CHAT_IGNORE_REGEX: list[str] = []
    AI_RESPONSE_PRE_DROP_REGEX: list[str] = []
    AI_CONTEXT_LENGTH_PER_MESSAGE: int = 768
    AI_CONTEXT_LENGTH_PER_SESSION: int = 5120
    AI_VISION_IMAGE_LIMIT: int = 5
    AI_VISION_IMAGE_SIZE_LIMIT_KB: int = 1024
    AI_SYSTEM_NOTIFY_WINDOW_SIZE: int = 10
    AI_SYSTEM_NOTIFY_LIMIT: int = 3
    AI_ALWAYS_INCLUDE_MSG_ID: bool = False
    AI_INCLUDE_TOME_INDICATOR: bool = False
    AI_SHOW_REMOTE_URL: bool = False
    AI_REQUEST_STREAM_MODE: bool = False
    AI_STREAM_FIRST_TOKEN_TIMEOUT: int = 60
    SESSION_GROUP_ACTIVE_DEFAULT: bool = True
    SESSION_PRIVATE_ACTIVE_DEFAULT: bool = True
    SESSION_ENABLE_FAILED_LLM_FEEDBACK: bool = True
    SANDBOX_RUNNING_TIMEOUT: int = 120
    SANDBOX_MAX_CONCURRENT: int = 4
    SANDBOX_ONEBOT_SERVER_MOUNT_DIR: str = "/app/nekro_agent_data"
    MEMORY_ENABLE_SYSTEM: bool = False
    MEMORY_EMBEDDING_MODEL_GROUP: str = "text-embedding"
    MEMORY_EMBEDDING_DIMENSION: int = 1024
    KB_EMBEDDING_MODEL_GROUP: str = "text-embedding"
    KB_EMBEDDING_DIMENSION: int = 1024
    MAIL_ENABLED: bool = False
    DYNAMIC_PLUGIN_INSTALL_MIRROR: str = ""
    ENABLE_FESTIVAL_REMINDER: bool = True
    OPENAI_CLIENT_USER_AGENT: str = "callgate"
    PLUGIN_ENABLED: list[str] = []
    PLUGIN_ACTIVATION_STRATEGIES: dict[str, Literal["auto", "allow_sleep", "forbid_sleep"]] = {}
    PLUGIN_CALL_PRIORITIES: dict[str, Literal["high", "medium", "low"]] = {}

    def get_model_group_info(self, model_name: str) -> ModelConfigGroup:
        group = self.MODEL_GROUPS.get(model_name)
        if group is None:
            known = ", ".join(self.MODEL_GROUPS) or "none"
            raise KeyError(texts.NO_MODEL_GROUP.format(name=model_name, known=known))
        return group.model_copy(update=_lent())

    def require_advanced_command(self) -> bool:
        if not self.ENABLE_ADVANCED_COMMAND:
            raise PermissionError("advanced commands are switched off")
        return True


CoreConfig.set_config_key("system")
CoreConfig.set_config_file_path(CONFIG_PATH)
config = CoreConfig()


def learn(settings: dict[str, Any], models: list[dict[str, Any]]) -> None:
    """Takes over what the host says. Changes the object in place: plugins hold references to it."""
    names = {"super_users": "SUPER_USERS", "proxy": "DEFAULT_PROXY", "language": "SYSTEM_LANG"}
    for theirs, ours in names.items():
        if settings.get(theirs):
            setattr(config, ours, settings[theirs])
    persona = settings.get("persona") or {}
    if persona.get("name"):
        config.AI_CHAT_PRESET_NAME = persona["name"]
        config.AI_CHAT_PRESET_SETTING = persona.get("system_prompt") or config.AI_CHAT_PRESET_SETTING
    groups = {model["id"]: _group(model, settings) for model in models}
    default = groups.get(settings.get("model") or "") or next(
        (group for group in groups.values() if group.MODEL_TYPE == "chat"), None
    )
    embedding = next((group for group in groups.values() if group.MODEL_TYPE == "embedding"), None)
    for name, group in (("default", default), ("text-embedding", embedding)):
        if group is not None:
            groups.setdefault(name, group)
    config.MODEL_GROUPS.clear()
    config.MODEL_GROUPS.update(groups)
    set_system_lang(SupportedLang(config.SYSTEM_LANG))


def _lent() -> dict[str, str]:
    """Address and key of the plugin that asks, so that what it spends is its own."""
    try:
        gateway = host.call_now("model_gateway")
    except host.HostError:
        return {}
    return {"BASE_URL": gateway["base_url"], "API_KEY": gateway["key"]}


def _group(model: dict[str, Any], settings: dict[str, Any]) -> ModelConfigGroup:
    kind = model.get("kind")
    gateway = settings.get("gateway") or {}
    return ModelConfigGroup(
        GROUP_NAME=model["id"],
        CHAT_MODEL=model["id"],
        BASE_URL=gateway.get("base_url", ""),
        API_KEY=gateway.get("key", ""),
        MODEL_TYPE=kind if kind in ("embedding", "draw") else "chat",
        ENABLE_VISION=bool(model.get("vision")),
    )


def save_config() -> None:
    """The host's settings are the operator's: a plugin changes them for this process only."""
    set_system_lang(SupportedLang(config.SYSTEM_LANG))


def reload_config() -> None:
    """The host pushes its settings; there is no file of ours to read again."""
