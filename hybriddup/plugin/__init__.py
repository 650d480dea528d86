"""The plugin framework: the hooks (`spec`), what components register with (`registry`), and loading (`manager`)."""

from hybriddup.plugin.spec import hookimpl

__all__ = ["hookimpl"]
