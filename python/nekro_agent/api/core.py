"""Logging, settings and the vector database."""

from nekro_agent.core.config import CoreConfig, ModelConfigGroup, config
from nekro_agent.core.logger import logger
from nekro_agent.core.vector_db import get_qdrant_client, get_qdrant_config

__all__ = ["CoreConfig", "ModelConfigGroup", "config", "get_qdrant_client", "get_qdrant_config", "logger"]
