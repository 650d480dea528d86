"""A standalone cluster of Spark on loopback: a master and workers, each a process."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread

import pyspark

HOME = Path(pyspark.__file__).parent
DEPLOY = "org.apache.spark.deploy"


@contextmanager
def server(kind: str, *arguments: str, ready: str, folder: Path) -> Iterator[str]:
    """Run a server until the end of the block; yield what is found in its log when it is ready."""
    command = [str(HOME / "bin" / "spark-class"), f"{DEPLOY}.{kind}", "--host", "127.0.0.1", "--webui-port", "0"]
    environment = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_WORKER_DIR": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            log = process.stderr
            assert log is not None
            found = next((found for line in log if (found := re.search(ready, line))), None)
            assert found, f"{kind} ended with {process.wait()}"
            Thread(target=log.read, daemon=True).start()  # so that it never waits for room in the pipe
            yield found[0]
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def standalone_cluster(folder: Path, *, n_workers: int) -> Iterator[str]:
    """Run a cluster whose workers have one core each; yield the address of its master."""
    with ExitStack() as stack:
        ready = r"spark://127\.0\.0\.1:\d+"
        master = stack.enter_context(server("master.Master", "--port", "0", ready=ready, folder=folder))
        for number in range(n_workers):
            arguments = ["--cores", "1", "--memory", "1g", "--port", "0", master]
            at = folder / f"worker-{number}"
            stack.enter_context(server("worker.Worker", *arguments, ready="Successfully registered", folder=at))
        yield master
