"""What is known of a platform adapter."""

from dataclasses import dataclass


@dataclass
class PlatformMetadata:
    name: str
    description: str
    id: str
    default_config_tmpl: dict | None = None
    adapter_display_name: str | None = None
    logo_path: str | None = None
    support_streaming_message: bool = True
    support_proactive_message: bool = True
    module_path: str | None = None
    i18n_resources: dict[str, dict] | None = None
    config_metadata: dict | None = None
