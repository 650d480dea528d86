"""Configuration: the declared keys (`settings`), reading them from YAML (`load`), their JSON Schema (`schema`)."""

from hybriddup.config.load import load_settings, open_session
from hybriddup.config.settings import Settings

__all__ = ["Settings", "load_settings", "open_session"]
