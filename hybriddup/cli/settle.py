"""Settling down: a process that answers for days lets the garbage collector pass over what it was started with."""

import gc


def settle() -> None:
    """Take all objects that there are by now out of what the garbage collector looks at.

    A full collection would look at every object of every library: some 35 ms in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
