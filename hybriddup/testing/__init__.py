"""Contract checks for plugin authors, one per role. hybriddup's own components pass the same checks.

A check takes a component in any form that ``registry.add_<role>`` accepts (a function, an instance, a class or an
import path), and its options as keywords. If the component violates a clause of the contract, the check raises
`ContractError` with this clause, which pytest shows as a failed assertion::

    def test_shout_keeps_the_contract():
        check_tokenizer(shout)
"""

from hybriddup.testing.block_indexes import check_block_index
from hybriddup.testing.contract import ContractError
from hybriddup.testing.formats import check_reader, check_writer
from hybriddup.testing.guards import check_guard
from hybriddup.testing.shared_stores import check_shared_store
from hybriddup.testing.texts import NASTY_TEXTS
from hybriddup.testing.tokens import check_hasher, check_normalizer, check_tokenizer, check_weighter
from hybriddup.testing.verifiers import check_verifier
from hybriddup.testing.windows import check_window

__all__ = [
    "NASTY_TEXTS",
    "ContractError",
    "check_block_index",
    "check_guard",
    "check_hasher",
    "check_normalizer",
    "check_reader",
    "check_shared_store",
    "check_tokenizer",
    "check_verifier",
    "check_weighter",
    "check_window",
    "check_writer",
]
