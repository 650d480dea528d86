"""HBase for tests: ZooKeeper, a master, region servers and a Thrift server, each a process, on loopback.

Their jars are fetched by Maven once, into the user's cache. Files are written by the operating system alone, without
checksums in between, so that what a server has written is there when it is killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from xml.sax.saxutils import escape

import happybase

VERSION = "2.6.1"
POM = Path(__file__).with_name("pom.xml")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hybriddup" / f"hbase-{VERSION}"
MAVEN, JAVA = shutil.which("mvn"), shutil.which("java")
STARTED_WITHIN = 120.0
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
FLAGS = (
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
    "--add-modules=jdk.unsupported",
    *(f"--add-opens=java.base/{one}=ALL-UNNAMED" for one in (
        "java.io", "java.nio", "sun.nio.ch", "java.lang", "jdk.internal.ref", "java.lang.reflect", "java.util",
        "java.util.concurrent")),
    *(f"--add-exports={one}=ALL-UNNAMED" for one in (
        "java.base/jdk.internal.misc", "java.security.jgss/sun.security.krb5", "java.base/sun.net.dns",
        "java.base/sun.net.util")),
    "-Djava.net.preferIPv4Stack=true",
)  # fmt: skip
"""What Java 17 asks for."""
SMALL = "-XX:+UseSerialGC"
"""A flag of Java: memory is freed without further threads."""
QUICK = "-XX:TieredStopAtLevel=1"
"""Another: programs are compiled quickly rather than well, for servers that run for a minute."""
ZOOKEEPER = "tickTime=1000\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
LOGGING = """status = warn
appender.c.type = Console
appender.c.name = c
appender.c.target = SYSTEM_ERR
appender.c.layout.type = PatternLayout
appender.c.layout.pattern = %d{ISO8601} %-5p [%t] %c{2}: %m%n
rootLogger.level = info
rootLogger.appenderRef.c.ref = c
"""


def jars() -> Path:
    """Return the folder of the jars, which are fetched where it is not there."""
    if not CACHE.exists():
        assert MAVEN is not None
        fetched = CACHE.with_name(f"{CACHE.name}-{os.getpid()}")
        command = [MAVEN, "-B", "-q", "-f", str(POM), COPY, "-DincludeScope=runtime", f"-DoutputDirectory={fetched}"]
        subprocess.run(command, check=True, timeout=600)
        for second in fetched.glob("slf4j-reload4j-*.jar"):  # of two that would write the log
            second.unlink()
        with suppress(OSError):  # another process was first
            fetched.rename(CACHE)
    return CACHE


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


class HBase:
    """Servers that can be ended, killed and started again, in a folder of their own."""

    def __init__(self, folder: Path, n_region_servers: int = 1, heap: str = "384m", *flags: str) -> None:
        self.folder, self.n, self.heap, self.flags = folder, n_region_servers, heap, flags
        self.port, self.zookeeper_port = free_port(), free_port()
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def settings(self) -> dict[str, object]:
        """What hbase-site.xml says."""
        return {
            "hbase.cluster.distributed": "true",
            "hbase.rootdir": f"file://{self.folder}/data",
            "hbase.tmp.dir": self.folder / "tmp",
            "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
            "hbase.unsafe.stream.capability.enforce": "false",
            "hbase.wal.provider": "filesystem",
            "hbase.zookeeper.quorum": "127.0.0.1",
            "hbase.zookeeper.property.clientPort": self.zookeeper_port,
            # a server on a busy machine must not be taken for dead; where one is killed, another soon takes over
            "zookeeper.session.timeout": 20_000 if self.n == 1 else 6000,
            "hbase.master.port": 0,
            "hbase.regionserver.port": 0,
            "hbase.master.ipc.address": "127.0.0.1",
            "hbase.regionserver.ipc.address": "127.0.0.1",
            "hbase.master.hostname": "localhost",
            "hbase.unsafe.regionserver.hostname": "localhost",
            "hbase.master.info.port": -1,
            "hbase.regionserver.info.port": -1,
            "hbase.thrift.info.port": -1,
            "hbase.thrift.server.socket.read.timeout": 600_000,
            "hbase.regionserver.handler.count": 10,
            # otherwise each family of each table takes 2 MB of the heap, and the tests make a hundred tables
            "hbase.hregion.memstore.mslab.enabled": "false",
            # servers answer at once, and are asked again soon: by default they wait for others and collect work first
            "hbase.master.wait.on.regionservers.mintostart": self.n,
            "hbase.master.wait.on.regionservers.maxtostart": self.n,
            "hbase.regionserver.msginterval": 300,
            "hbase.assignment.dispatch.wait.msec": 5,
            "hbase.procedure.remote.dispatcher.delay.msec": 5,
            "hbase.client.pause": 10,
            "hbase.client.retries.number": 40,  # a minute in all, as the pauses grow a hundredfold and more
        }

    def write_settings(self) -> None:
        """Write the files that the servers read."""
        conf = self.folder / "conf"
        for name in ("conf", "tmp", "logs"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        properties = "".join(f"<property><name>{name}</name><value>{escape(str(value))}</value></property>\n"
                             for name, value in self.settings().items())  # fmt: skip
        (conf / "hbase-site.xml").write_text(f"<configuration>\n{properties}</configuration>\n")
        (conf / "log4j2.properties").write_text(LOGGING)
        placed = f"clientPort={self.zookeeper_port}\ndataDir={self.folder}/zookeeper\n"
        (conf / "zookeeper.cfg").write_text(ZOOKEEPER + placed)

    def run(self, name: str, heap: str, *command: str) -> None:
        """Start one server by its class and arguments."""
        assert JAVA is not None
        path = f"{self.folder}/conf:{jars()}/*"
        own = [
            f"-Dhbase.log.dir={self.folder}/logs",
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            f"-Xmx{heap}",
            *self.flags,
        ]
        with (self.folder / "logs" / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen([JAVA, *FLAGS, *own, "-cp", path, *command], stdout=log, stderr=log)

    def start(self) -> None:
        """Start all, and return when they answer."""
        self.write_settings()
        self.run(
            "zookeeper", "64m", "org.apache.zookeeper.server.ZooKeeperServerMain", f"{self.folder}/conf/zookeeper.cfg"
        )
        self.wait_for_port(self.zookeeper_port)
        self.run("master", "192m", "org.apache.hadoop.hbase.master.HMaster", "start")
        for number in range(self.n):
            self.start_region_server(number)
        self.start_thrift()
        self.wait_until_it_answers()

    def start_region_server(self, number: int) -> None:
        """Start one of the servers that hold the tables."""
        self.run(f"region{number}", self.heap, "org.apache.hadoop.hbase.regionserver.HRegionServer", "start")

    def start_thrift(self, name: str = "thrift", port: int | None = None, *flags: str) -> None:
        """Start a server that windows speak to."""
        port = port or self.port
        asked = "-b", "127.0.0.1", "-p", str(port), "--infoport", "-1", *flags, "start"
        self.run(name, "192m", "org.apache.hadoop.hbase.thrift.ThriftServer", *asked)
        self.wait_for_port(port)

    def wait_for_port(self, port: int) -> None:
        """Return when somebody listens."""
        ends = time.monotonic() + STARTED_WITHIN
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            self.check_running(ends)

    def wait_until_it_answers(self) -> None:
        """Return when a table can be made."""
        ends = time.monotonic() + STARTED_WITHIN
        while True:
            with suppress(Exception):
                connection = happybase.Connection("127.0.0.1", self.port, timeout=20_000)
                if b"ready" not in connection.tables():
                    connection.create_table("ready", {"d": {}})
                connection.table("ready").put(b"row", {b"d:is": b"there"})
                connection.close()
                return
            self.check_running(ends)

    def check_running(self, ends: float) -> None:
        """Fail where a server has ended, or nothing came in time."""
        for name, process in self.running.items():
            assert process.poll() is None, f"{name}:\n{self.log(name)}"
        assert time.monotonic() < ends, self.log("master")
        time.sleep(0.2)

    def log(self, name: str) -> str:
        """The end of what a server has said."""
        return self.whole_log(name)[-4000:]

    def whole_log(self, name: str) -> str:
        """What a server has said."""
        return (self.folder / "logs" / f"{name}.log").read_text("utf-8", "replace")

    def end(self, name: str, number: int = signal.SIGKILL) -> None:
        """End one server by a signal."""
        process = self.running.pop(name)
        process.send_signal(number)
        process.wait(60)

    def end_all(self) -> None:
        """End what is running."""
        for name in reversed(list(self.running)):
            self.end(name)

    def url(self, window: str = "tests", **options: object) -> str:
        """The address of a window."""
        asked = "&".join(f"{name}={value}" for name, value in options.items())
        return f"hbase://127.0.0.1:{self.port}/{window}?{asked}".rstrip("?")


@contextmanager
def serving(folder: Path, n_region_servers: int = 1, heap: str = "384m", *flags: str) -> Iterator[HBase]:
    """Yield HBase, with flags of Java."""
    servers = HBase(folder, n_region_servers, heap, *flags)
    try:
        servers.start()
        yield servers
    finally:
        servers.end_all()
