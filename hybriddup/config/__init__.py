"""Configuration: declared keys (`settings`), loading from YAML (`load`), JSON Schema for editors (`schema`)."""

from hybriddup.config.load import load_settings, open_session
from hybriddup.config.settings import Settings

__all__ = ["Settings", "load_settings", "open_session"]
