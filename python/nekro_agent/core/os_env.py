"""Where files are. `OsEnv.DATA_DIR` is below the worker's own folder.

Compat(nekro): plugins build paths from these constants, so a plugin's data folder also appears at
`DATA_DIR/plugin_data/<key>`.
"""

import os
from pathlib import Path

from nekro_agent.core.core_utils import OsEnvTypes


WORKER_HOME = Path.cwd()
"""Where the worker was started: its own folder."""


class OsEnv:
    INSTANCE_NAME: str = OsEnvTypes.Str("INSTANCE_NAME")
    DATA_DIR: str = OsEnvTypes.Str("DATA_DIR", default=str(WORKER_HOME / "data" / "nekro_agent"))
    QDRANT_URL: str = OsEnvTypes.Str("QDRANT_URL")
    QDRANT_API_KEY: str = OsEnvTypes.Str("QDRANT_API_KEY")
    USE_ENV_QDRANT: str = OsEnvTypes.Str("USE_ENV_QDRANT", default="false")
    RUN_IN_DOCKER: bool = False
    EXPOSE_PORT: int = OsEnvTypes.Int("EXPOSE_PORT", default=8021)
    STATIC_DIR: str = "./static"
    NEKRO_CLOUD_API_BASE_URL: str = ""
    ENABLE_OPENAPI_DOCS: bool = False


# Plugins read the variable, too.
os.environ["NEKRO_DATA_DIR"] = OsEnv.DATA_DIR

APP_SYSTEM_DIR: str = f"{OsEnv.DATA_DIR}/system"
USER_UPLOAD_DIR: str = f"{OsEnv.DATA_DIR}/uploads"
SANDBOX_SHARED_HOST_DIR: str = f"{OsEnv.DATA_DIR}/sandboxes"
SANDBOX_PACKAGE_DIR: str = f"{OsEnv.DATA_DIR}/sandboxes/.packages"
PLUGIN_DYNAMIC_PACKAGE_DIR: str = f"{OsEnv.DATA_DIR}/plugins/.dynamic_packages"
PROMPT_LOG_DIR: str = f"{OsEnv.DATA_DIR}/logs/prompts"
PROMPT_ERROR_LOG_DIR: str = f"{OsEnv.DATA_DIR}/logs/prompts_error"
APP_LOG_DIR: str = f"{OsEnv.DATA_DIR}/logs/app"
BUILTIN_PLUGIN_DIR: str = "plugins/builtin"
WORKDIR_PLUGIN_DIR: str = f"{OsEnv.DATA_DIR}/plugins/workdir"
PACKAGES_DIR: str = f"{OsEnv.DATA_DIR}/plugins/packages"
NAPCAT_TEMPFILE_DIR: str = f"{OsEnv.DATA_DIR}/napcat_data/QQ/NapCat/temp"
TIMER_SYSTEM_DIR: str = f"{APP_SYSTEM_DIR}/timer"
ONEBOT_ACCESS_TOKEN: str = ""


def plugin_folder(key: str, home: Path | None) -> Path:
    """The data folder of plugin `key`, which is really at `home` where the host gave it one."""
    place = Path(OsEnv.DATA_DIR) / "plugin_data" / key
    if home is None:
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink():
        if place.readlink() == home:
            return place
        place.unlink()
    elif place.exists():
        return place
    os.symlink(home, place, target_is_directory=True)
    return place
