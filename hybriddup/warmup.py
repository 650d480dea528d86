"""The first run after installing compiles the kernels; this tells the user so."""

from pathlib import Path

from hybriddup.kernels.bucket_join import find_near
from hybriddup.progress import Progress

MESSAGE = "first run: compiling the kernels, some ten seconds; later runs load them from the cache"


def note_compiling(progress: Progress) -> None:
    """Tell the user that kernels are about to be compiled, if the cache does not hold them."""
    folder = getattr(getattr(find_near, "stats", None), "cache_path", None)  # absent where the JIT is off
    if folder and not any(Path(folder).glob("bucket_join.find_near*.nbi")):
        progress.note(MESSAGE)
