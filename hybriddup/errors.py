"""The errors that hybriddup raises: one family, so that callers can catch all of them or one kind."""


class HybriddupError(Exception):
    """Base of every error that hybriddup raises on purpose; its message is meant for the user."""


class ConfigError(HybriddupError):
    """A configuration that cannot be used: names the file, the key, what was given and what is allowed."""


class PluginError(HybriddupError):
    """A plugin or component that is missing, clashes with another, or does not keep its contract."""


class InputError(HybriddupError):
    """Posts that cannot be read: names the file and line, or the position in the list."""


class OutputError(HybriddupError):
    """A result that could not be written; the target is left as it was."""


class StoreError(HybriddupError):
    """A window's store that cannot be read or written: names the store, the cause and what to do."""


class WindowError(HybriddupError):
    """A live window that cannot be opened or used: its store, its recipe, or that it is closed."""


class UnsupportedError(WindowError):
    """What a live window cannot do, because of where its posts lie."""
