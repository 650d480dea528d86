"""The exceptions of hybriddup: one base class, so that callers can catch all of them or one kind."""


class HybriddupError(Exception):
    """Base class of every error that hybriddup raises on purpose; the message is written for the user."""


class ConfigError(HybriddupError):
    """The configuration is invalid. The message names the file, the key, the given value and what is allowed."""


class PluginError(HybriddupError):
    """A plugin or component is missing, has the same name as another, fails, or violates its contract."""


class InputError(HybriddupError):
    """Posts cannot be read. The message names the file and line, or the position in the list."""


class OutputError(HybriddupError):
    """An output cannot be written; the target is unchanged."""


class StoreError(HybriddupError):
    """A window's store cannot be read or written. The message names the store, the cause and what to do."""


class WindowError(HybriddupError):
    """A live window cannot be opened or used, because of its store or recipe, or because it is closed."""


class UnsupportedError(WindowError):
    """The store of this live window does not support the operation."""
