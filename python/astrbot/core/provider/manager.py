"""Which models there are and which one a session uses. A mirror of the host's list, renewed by `refresh`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from astrbot.core.provider.entities import ProviderType
from astrbot.core.provider.hosted import HostedEmbeddingProvider, HostedProvider
from astrbot.core.provider.provider import (
    EmbeddingProvider,
    Provider,
    RerankProvider,
    STTProvider,
    TTSProvider,
)
from astrbot.core.provider.register import llm_tools
from callgate_worker import host

_PREFERENCE = {
    ProviderType.CHAT_COMPLETION: "provider_perf_chat_completion",
    ProviderType.TEXT_TO_SPEECH: "provider_perf_text_to_speech",
    ProviderType.SPEECH_TO_TEXT: "provider_perf_speech_to_text",
}


def _lookups(kind: ProviderType, umo: str | None) -> list[tuple[str, dict[str, Any]]]:
    """What to ask the host, in order of weight."""
    if not umo or kind not in _PREFERENCE:
        return []
    asked: list[tuple[str, dict[str, Any]]] = [
        ("preference_get", {"scope": "umo", "scope_id": str(umo), "key": _PREFERENCE[kind]})
    ]
    if kind == ProviderType.CHAT_COMPLETION:
        asked.append(("settings_get", {"session": str(umo)}))
    return asked


class ProviderManager:
    def __init__(self, config: Any = None, persona_manager: Any = None) -> None:
        self.llm_tools = llm_tools
        self.acm = config
        self.persona_mgr = persona_manager
        self.provider_insts: list[Provider] = []
        self.embedding_provider_insts: list[EmbeddingProvider] = []
        self.stt_provider_insts: list[STTProvider] = []
        self.tts_provider_insts: list[TTSProvider] = []
        self.rerank_provider_insts: list[RerankProvider] = []
        self.inst_map: dict[str, Any] = {}
        self.default_id: str | None = None
        self._hosted: set[str] = set()

    async def refresh(self) -> None:
        """Takes over the host's list; providers that plugins registered themselves stay."""
        rows = await host.call("model_list")
        gateway: dict = {}
        with suppress(host.HostError):
            gateway = await host.call("model_gateway")
        self.apply([{**row, "gateway": gateway} for row in rows])

    def apply(self, rows: list[dict]) -> None:
        known = {row["id"] for row in rows}
        for gone in self._hosted - known:
            lost = self.inst_map.pop(gone)
            for group in (self.provider_insts, self.embedding_provider_insts):
                if lost in group:
                    group.remove(lost)
        for row in rows:
            if row["id"] not in self.inst_map:
                if row.get("kind") == "embedding":
                    made = HostedEmbeddingProvider(row)
                    self.embedding_provider_insts.append(made)
                else:
                    made = HostedProvider(row)
                    self.provider_insts.append(made)
                self.inst_map[row["id"]] = made
        self._hosted = known
        self.default_id = next((row["id"] for row in rows if row.get("default")), None)

    @property
    def personas(self) -> list:
        return self.persona_mgr.personas_v3

    @property
    def selected_default_persona(self) -> Any:
        return self.persona_mgr.selected_default_persona_v3

    @property
    def curr_provider_inst(self) -> Provider | None:
        return self._of(ProviderType.CHAT_COMPLETION, [])

    async def get_provider_by_id(self, provider_id: str) -> Any:
        return self.inst_map.get(provider_id)

    def get_using_provider(self, provider_type: ProviderType, umo: str | None = None) -> Any:
        wanted = []
        for method, arguments in _lookups(provider_type, umo):
            wanted.append(host.call_now(method, **arguments))
        return self._of(provider_type, wanted)

    async def get_using_provider_async(self, provider_type: ProviderType, umo: str | None = None) -> Any:
        wanted = []
        for method, arguments in _lookups(provider_type, umo):
            wanted.append(await host.call(method, **arguments))
        return self._of(provider_type, wanted)

    def _of(self, kind: ProviderType, wanted: list[dict | None]) -> Any:
        """The first of what was chosen that exists: a plugin's choice, the session's, the default, any."""
        group = {
            ProviderType.CHAT_COMPLETION: self.provider_insts,
            ProviderType.TEXT_TO_SPEECH: self.tts_provider_insts,
            ProviderType.SPEECH_TO_TEXT: self.stt_provider_insts,
            ProviderType.EMBEDDING: self.embedding_provider_insts,
            ProviderType.RERANK: self.rerank_provider_insts,
        }[kind]
        for choice in [*wanted, {"value": self.default_id}]:
            id = choice and (choice.get("value") or choice.get("model"))
            if id and self.inst_map.get(id) in group:
                return self.inst_map[id]
        return group[0] if group else None

    async def set_provider(
        self, provider_id: str, provider_type: ProviderType, umo: str | None = None
    ) -> None:
        if provider_id not in self.inst_map:
            raise ValueError(f"provider {provider_id} does not exist")
        if umo and provider_type in _PREFERENCE:
            if provider_id in self._hosted and provider_type == ProviderType.CHAT_COMPLETION:
                await host.call("session_model_set", session=str(umo), model=provider_id)
            await host.call(
                "preference_set", scope="umo", scope_id=umo, key=_PREFERENCE[provider_type], value=provider_id
            )
        elif provider_type == ProviderType.CHAT_COMPLETION:
            self.default_id = provider_id
