"""The `rjieba` tokenizer keeps hybriddup's contract and cuts as jieba does."""

import subprocess
import sys

import pytest
from hybriddup_rjieba.tokenizer import Rjieba

from hybriddup.config import load_settings
from hybriddup.data.records import Tokens
from hybriddup.errors import ConfigError
from hybriddup.plugin.manager import PluginManager, create_plugin_manager
from hybriddup.plugin.registry import Registry
from hybriddup.steps.tokenizers import Tokenizer
from hybriddup.testing import NASTY_TEXTS, check_tokenizer

CORPUS = [
    "你妈妈喊你回家吃饭哦，回家罗回家罗",
    "你媽媽叫你回家吃飯啦，回家羅回家羅",
    "今天早上的地铁又晚点了，站台上挤满了人。",
    "南京市长江大桥去年又修了一次",
    "研究生命的起源是一件很有意思的事情",
    "结婚的和尚未结婚的都来了",
    "他说的确实在理，小王说的也不是没有道理",
    "这家店的 Wi-Fi 密码是 12345678，别告诉别人哈哈哈",
    "iPhone15 降价到 4999.00 元，C++ 教程 e-mail: someone@example.com",
    "明天 meet 在 cafe 见，3pm！",
    "确诊10例，新增EP01和EP02",
    "😀😀 好开心呀～～～ 👍🏽",
    "#周末去哪儿# 转发微博 //@小明:哈哈",
    "大家好\u3000全角空格\t制表符\n换行",
    "The early train was late again, so we walked.",
    "東京タワーに行きました",
    "",
    "，。！？",
]
"""Sentences written for this test: ambiguous cuts, mixed scripts, numbers, emoji, microblog markup, traditional."""


LONGEST_RUN = 500
"""Maximum length of a run without punctuation that jieba gets, because its time grows with the square of the length;
rjieba gets longer runs in one piece."""


@pytest.fixture(scope="module")
def manager() -> PluginManager:
    return create_plugin_manager(entry_points=False, modules=["hybriddup_rjieba"])


@pytest.fixture(scope="module")
def registry(manager: PluginManager) -> Registry:
    return manager.registry


@pytest.fixture(scope="module")
def jieba(registry: Registry) -> Tokenizer:
    tokenizer: Tokenizer = registry.create_by_name("tokenizer", "jieba", hmm=False)
    return tokenizer


def words(tokens: Tokens) -> list[list[str]]:
    return [tokens.strings(text) for text in range(tokens.n_texts)]


@pytest.mark.parametrize("hmm", [False, True])
def test_rjieba_keeps_the_contract_of_tokenizers(hmm: bool) -> None:
    """The shared contract check passes with either option."""
    check_tokenizer(Rjieba, hmm=hmm)


@pytest.mark.parametrize("text", [*CORPUS, *(text for text in NASTY_TEXTS if len(text) <= LONGEST_RUN)])
def test_words_are_those_of_jieba_without_hmm(registry: Registry, jieba: Tokenizer, text: str) -> None:
    """Each text is cut as hybriddup's own `jieba` cuts it."""
    rjieba = registry.create_by_name("tokenizer", "rjieba")

    assert words(rjieba.tokenize_batch([text])) == words(jieba.tokenize_batch([text]))


def test_hmm_joins_characters_of_unknown_words(registry: Registry) -> None:
    """With `hmm`, a name that is in no dictionary may become one word."""
    text = ["他来到了网易杭研大厦"]

    without = words(registry.create_by_name("tokenizer", "rjieba").tokenize_batch(text))
    joined = words(registry.create_by_name("tokenizer", "rjieba", hmm=True).tokenize_batch(text))

    assert (without[0][-3:], joined[0][-2:]) == (["杭", "研", "大厦"], ["杭研", "大厦"])


def test_configuration_names_rjieba_and_its_default(manager: PluginManager) -> None:
    """A file can use the tokenizer, and the resolved settings show its option."""
    settings = load_settings({"tokenizer": {"use": "rjieba"}}, manager)

    assert settings.tokenizer.to_dict() == {"use": "rjieba", "hmm": False}


def test_wrong_option_names_the_plugin(manager: PluginManager) -> None:
    """The message about a wrong option names its key, the allowed values and the plugin that has the option."""
    with pytest.raises(ConfigError) as caught:
        load_settings({"tokenizer": {"use": "rjieba", "hmm": "yes"}}, manager)

    assert str(caught.value) == (
        "tokenizer.hmm must be true or false; got 'yes'. "
        "The options are those of tokenizer 'rjieba' (plugin 'hybriddup_rjieba' of no package)."
    )


def test_registering_does_not_import_rjieba() -> None:
    """Listing plugins stays quick: the Rust module is loaded with the first tokenizer made."""
    code = (
        "import sys; from hybriddup.plugin.manager import create_plugin_manager; "
        "create_plugin_manager(entry_points=False, modules=['hybriddup_rjieba']); print('rjieba' in sys.modules)"
    )

    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert output.strip() == "False"


def test_recipe_names_the_version_of_rjieba(manager: PluginManager) -> None:
    """A new rjieba, whose dictionary may differ, makes another recipe id."""
    recipe = manager.registry.create_by_name("tokenizer", "rjieba").recipe()

    assert list(recipe) == ["rjieba"]
