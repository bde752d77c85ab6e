"""Texts in two languages."""

from enum import Enum
from typing import TypeAlias

from callgate_worker import language

I18nDict: TypeAlias = dict[str, str]


class SupportedLang(str, Enum):
    ZH_CN = "zh-CN"
    EN_US = "en-US"

    @classmethod
    def from_accept_language(cls, accept_lang: str) -> "SupportedLang":
        first = accept_lang.split(",")[0].strip().lower() if accept_lang else ""
        return cls.EN_US if first.startswith("en") else cls.ZH_CN


_system_lang = SupportedLang.ZH_CN


def get_system_lang() -> SupportedLang:
    return _system_lang


def set_system_lang(lang: SupportedLang) -> None:
    global _system_lang
    _system_lang = lang


def i18n_text(*, zh_CN: str, en_US: str) -> I18nDict:
    """A text in both languages, which are both needed."""
    return {SupportedLang.ZH_CN.value: zh_CN, SupportedLang.EN_US.value: en_US}


def get_text(i18n_dict: I18nDict | None, default: str, lang: SupportedLang = SupportedLang.ZH_CN) -> str:
    return i18n_dict.get(lang.value, default) if i18n_dict else default


def t(*, zh_CN: str, en_US: str) -> str:
    return resolve_i18n(i18n_text(zh_CN=zh_CN, en_US=en_US))


def resolve_i18n(text: str | I18nDict) -> str:
    """A text as it is, or the one of several that the system's language asks for."""
    if isinstance(text, str):
        return text
    return text.get(_system_lang.value, next(iter(text.values()), ""))


def say(text: I18nDict, **values: object) -> str:
    """One of `nekro_agent.texts` in the language of the person who is answered; where nobody is, in the system's."""
    return language.say(text, _system_lang.value, **values)
