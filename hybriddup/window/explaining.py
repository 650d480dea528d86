"""Why a text matches a post of the window or does not: every step, with what the window itself has learned."""

from __future__ import annotations

from hybriddup.errors import InputError
from hybriddup.study.explain import Explainer
from hybriddup.window.looked_into import LookedInto
from hybriddup.window.records import PostId
from hybriddup.window.weights import FIT_AT


def explainer_of(state: LookedInto, text: str, post_id: PostId) -> WindowExplainer:
    """Return what explains whether a text repeats a post of the window; the post is A, the text B.

    Raises
    ------
    InputError
        No post with this id was decided within the horizon.
    """
    post = state.store.find_ids([post_id])[0]
    if post is None:
        raise InputError(
            f"no post with the id {post_id!r} was decided within the horizon. Give the id of a decision or a match; "
            "the number 17 and the text '17' are two ids."
        )
    return WindowExplainer(state, post.text, text)


class WindowExplainer(Explainer):
    """Runs the steps on two texts with the window's weights, with what its verifiers learned, and on its index.

    Making one asks all that there is to ask of the window; `explain` can be called when the window goes on.
    """

    def __init__(self, state: LookedInto, earlier: str, later: str) -> None:
        super().__init__(state.steps.components, (earlier, later), is_fitted=not state.weights_learn)
        self.state = state
        self._keys = super().count_keys()
        _ = self.evidence

    def count_keys(self) -> tuple[int, int]:
        """Return how many keys the two share, and by how many the text is looked up."""
        return self._keys

    def prepare_verifiers(self) -> None:
        """Let the verifiers look at the two texts, and keep what they learned."""
        self.bands.plan.renew(self.state.steps.verifier_context(self.normalized))

    def caution(self) -> str:
        """Return what to add to a verdict that rests on the Hamming distance."""
        if self.is_fitted:
            return ""
        return f" All tokens and keys count as rare until {FIT_AT:,} posts have come; then the distance can be another."
