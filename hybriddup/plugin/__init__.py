"""The plugin framework: hooks (`spec`), the registry of components (`registry`), and loading (`manager`)."""

from hybriddup.plugin.spec import hookimpl

__all__ = ["hookimpl"]
