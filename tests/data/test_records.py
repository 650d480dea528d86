"""Arrays of texts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import encode_texts

ANY_TEXT = st.text(st.characters(codec=None) | st.sampled_from("\x00\ud800\udc00\U0010ffff"), max_size=20)


@given(st.lists(ANY_TEXT, max_size=8))
def test_encoded_texts_are_their_code_points_one_after_another(texts: list[str]) -> None:
    code_points, offsets = encode_texts(texts)
    bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    assert [code_points[begin:end].tolist() for begin, end in bounds] == [list(map(ord, text)) for text in texts]
    assert len(code_points) == offsets[-1] == sum(map(len, texts))
    assert code_points.dtype == np.uint32
    assert code_points.flags.writeable  # kernels would be compiled once more for arrays that are not
