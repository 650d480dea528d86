"""A window answers as one written for plainness, whatever comes: batches, repeated ids, deletions, time, reopening."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from hybriddup.window import Post, Window
from tests.builders import examples
from tests.window.reference_window import CONFIG, ReferenceWindow

HORIZON = 100.0
texts = st.text(alphabet="ab", max_size=8) | st.sampled_from(
    ["abcdefgh", "abcdefgx", "xbcdefgx", "妈妈喊你回家", "妈妈叫你回家"]
)
ids = st.none() | st.integers(0, 20) | st.integers(0, 20).map(str)
posts = st.builds(Post, text=texts, id=ids, author=st.none(), created_at=st.floats(-20, 150, width=16))
"""With the seconds by which they are late as their times."""


class WindowMachine(RuleBasedStateMachine):
    """The window and the reference are told the same."""

    @initialize(
        time_of=st.sampled_from(["event", "arrival", "arrival, renewed"]), on_disk=st.booleans(), replace=st.booleans()
    )
    def begin(self, *, time_of: str, on_disk: bool, replace: bool) -> None:
        by_event = time_of == "event"
        self.folder = Path(mkdtemp())
        self.path = self.folder / "store" if on_disk else None
        self.by_event = by_event
        self.reference = ReferenceWindow(HORIZON, by_event, replace, time_of == "arrival, renewed")
        self.window = self.open()

    def open(self) -> Window:
        time = "event" if self.by_event else "arrival"
        on_same_id = "replace" if self.reference.replace else "answer"
        config = CONFIG | {"window": {"renew": self.reference.renew, "on_same_id": on_same_id}}
        return Window.open(self.path, config, horizon=HORIZON, time=time, workers=1, clock=lambda: self.reference.now)  # type: ignore[arg-type]

    @rule(batch=st.lists(posts, min_size=1, max_size=6))
    def add(self, batch: list[Post]) -> None:
        batch = [post._replace(created_at=self.reference.now - post.created_at) for post in batch]
        decisions = self.window.add_many(batch)
        self.reference.at_batch = self.reference.watermark
        answers = [(decision.id, decision.evidence and decision.evidence.duplicate_of) for decision in decisions]
        assert answers == [
            self.reference.add(post, decision.id, repeated=decision.repeated)
            for post, decision in zip(batch, decisions, strict=True)
        ]
        self.reference.end_batch()

    @rule(seconds=st.floats(-50, 90, width=16) | st.just(700))
    def let_time_pass(self, seconds: float) -> None:
        self.reference.now = max(self.reference.now + seconds, 0.0)

    @rule(text=texts)
    def look(self, text: str) -> None:
        """Looking finds a match where adding would, and changes nothing."""
        found = {match.id for match in self.window.match(text, limit=100) if match.is_match}
        keeper = self.reference.keeper_of(text)
        assert keeper in found if keeper is not None else not found

    @rule(post_id=st.integers(0, 20) | st.integers(0, 20).map(str) | st.integers(0, 60).map("#{}".format))
    def delete(self, post_id: str | int) -> None:
        was_there = self.window.get(post_id) is not None
        assert self.window.delete(post_id) == was_there
        assert self.window.get(post_id) is None
        self.reference.delete(post_id, was_there=was_there)

    @rule()
    def count(self) -> None:
        assert self.window.stats().n_kept_in_window == len({kept.number for kept in self.reference.in_window()})

    @rule()
    def open_again(self) -> None:
        if self.path is not None:
            self.window.close()
            self.window = self.open()
            self.reference.last_time = self.reference.watermark

    def teardown(self) -> None:
        if hasattr(self, "window"):
            self.window.close()
        rmtree(self.folder)


TestWindow = WindowMachine.TestCase
TestWindow.settings = settings(examples(60), stateful_step_count=25)
