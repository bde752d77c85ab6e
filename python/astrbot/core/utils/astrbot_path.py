"""Where AstrBot plugins expect their files: everything below `<root>/data`."""

import os
import tempfile


def get_astrbot_root() -> str:
    return os.path.realpath(os.environ.get("ASTRBOT_ROOT") or os.getcwd())


def get_astrbot_path() -> str:
    return os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))


def get_astrbot_data_path() -> str:
    return _data()


def _data(*names: str) -> str:
    return os.path.realpath(os.path.join(get_astrbot_root(), "data", *names))


def get_astrbot_config_path() -> str:
    return _data("config")


def get_astrbot_plugin_path() -> str:
    return _data("plugins")


def get_astrbot_builtin_plugin_path() -> str:
    return os.path.join(get_astrbot_path(), "astrbot", "builtin_stars")


def get_astrbot_plugin_data_path() -> str:
    return _data("plugin_data")


def get_astrbot_t2i_templates_path() -> str:
    return _data("t2i_templates")


def get_astrbot_webchat_path() -> str:
    return _data("webchat")


def get_astrbot_temp_path() -> str:
    return _data("temp")


def get_astrbot_skills_path() -> str:
    return _data("skills")


def get_astrbot_workspaces_path() -> str:
    return _data("workspaces")


def get_astrbot_system_tmp_path() -> str:
    return os.path.realpath(os.path.join(tempfile.gettempdir(), ".astrbot"))


def get_astrbot_site_packages_path() -> str:
    return _data("site-packages")


def get_astrbot_knowledge_base_path() -> str:
    return _data("knowledge_base")


def get_astrbot_backups_path() -> str:
    return _data("backups")
