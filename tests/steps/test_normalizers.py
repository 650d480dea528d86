"""What `none` and `microblog` make of a post, option by option."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hybriddup.steps.normalizers import NoNormalizer, tables
from hybriddup.steps.normalizers.make_traditional import simplified_pairs
from hybriddup.steps.normalizers.microblog import BATCH_CHARACTERS, MicroblogNormalizer
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
from hybriddup.steps.normalizers.patterns import BOUNDARY
from hybriddup.steps.normalizers.spellings import spellings_checksum
from hybriddup.steps.normalizers.tables import simplified_characters

NOTHING = dict.fromkeys(MicroblogOptions.model_fields, "keep") | {"unicode": "none"}
"""Options with which `microblog` changes nothing."""

CASES = [
    ("unicode", "nfkc", "ＡＢ１２：ﬁ½℃…", "AB12:fi1⁄2°C..."),
    ("unicode", "nfkc", "cafe\u0301", "caf\u00e9"),
    ("unicode", "none", "ＡＢ１２：ﬁ½℃…e\u0301", "ＡＢ１２：ﬁ½℃…e\u0301"),
    ("case", "fold", "RT ÀÉ Straße ΣΑΣ", "rt àé strasse σασ"),
    ("case", "keep", "RT ÀÉ Straße", "RT ÀÉ Straße"),
    ("traditional", "simplify", "你媽媽喊你回家吃飯哦", "你妈妈喊你回家吃饭哦"),
    ("traditional", "keep", "你媽媽喊你", "你媽媽喊你"),
    ("spelling", "fold", "كــل عَام ёлка İ ı L’été “a” –", 'كل عام елка I i L\'été "a" -'),
    ("spelling", "keep", "عَام ёлка İ ’", "عَام ёлка İ ’"),
    ("markup", "drop", "<p>Tom &amp;amp; <b>K</b>ay <3</p>", " Tom & Kay <3 "),
    ("markup", "keep", "<p>a &amp; b</p>", "<p>a &amp; b</p>"),
    ("mojibake", "repair", "donâ€™t ðŸŽ‰ cafÃ© 5\\u20ac", "don’t 🎉 café 5€"),
    ("mojibake", "keep", "donâ€™t", "donâ€™t"),
    ("urls", "drop", "看http://t.cn/A6Zg5cuw太好了", "看 太好了"),
    ("urls", "drop_decoration", "New on my blog http://x.org/A", "New on my blog http://x.org/A"),
    ("urls", "drop_decoration", "The ferry is late again today, sorry http://x.org/A",
     "The ferry is late again today, sorry  "),
    ("mentions", "drop_decoration", "@a ask @b about the ferry, it is late again @c",
     "  ask @b about the ferry, it is late again  "),
    ("urls", "drop", "HTTPS://x.org/a?b=c&d=%20#e", ""),
    ("urls", "drop", "a www.x.org/b t.cn/Ab1 c", "a     c"),
    ("urls", "drop", "a bit.ly/Ab_1 pic.twitter.com/x9 b", "a     b"),
    ("urls", "drop", "rabbit.ly/a", "rabbit.ly/a"),
    ("urls", "drop", "好O网页链接", "好 "),
    ("urls", "drop", "start.cn/a 这个网页链接", "start.cn/a 这个网页链接"),
    ("urls", "drop", "http://t.cn/a#武汉#", " #武汉#"),
    ("urls", "drop", "http://t.cn/a//@Amy:hello", " //@Amy:hello"),
    ("urls", "mask", "看http://t.cn/A6Zg5cuw太好了", "看 <url> 太好了"),
    ("urls", "keep", "看http://t.cn/A6", "看http://t.cn/A6"),
    ("mentions", "drop", "感谢@人民日报 的分享", "感谢  的分享"),
    ("mentions", "drop", "x @a@b_c-d: y", "x  : y"),
    ("mentions", "drop", "mail ann@example.org", "mail ann@example.org"),
    ("mentions", "drop", "VIP@张三", "VIP "),
    ("mentions", "drop", "3 @ 5", "3 @ 5"),
    ("mentions", "drop", "@" + "好" * 31, " 好"),
    ("mentions", "mask", "@Amy_1 hi", " <user>  hi"),
    ("mentions", "keep", "@Amy hi", "@Amy hi"),
    ("reposts", "drop", "好//@Amy_1:真好//@张三：原文", "好 真好 原文"),
    ("reposts", "drop", "//@a://@b :x", "  x"),
    ("reposts", "drop", "RT @user: big news rt @other", "  big news  "),
    ("reposts", "drop", "art @gallery", "art @gallery"),
    ("reposts", "drop", "回复@张三:好 回覆@李四：不", " 好  不"),
    ("reposts", "drop", "转发微博", ""),
    ("reposts", "drop", "好//@a:轉發微博", "好  "),
    ("reposts", "drop", "请大家转发微博支持", "请大家转发微博支持"),
    ("reposts", "mask", "好//@a:原文", "好 <repost> 原文"),
    ("reposts", "drop_trail", "好//@a:真好//@b:原文", "好"),
    ("reposts", "drop_trail", "//@a: ?//@b:原文//@c:更早", "原文"),
    ("reposts", "drop_trail", "转发微博//@b:原文", "原文"),
    ("reposts", "drop_trail", "so true RT @user: big news", "so true "),
    ("reposts", "drop_trail", "?//@b:!", "? !"),
    ("reposts", "keep", "好//@a:转发微博", "好//@a:转发微博"),
    ("cross_posts", "drop", "Moment of Impact (x-post from r/pics)", "Moment of Impact  "),
    ("cross_posts", "drop", "[XPost] one [crossposted to r/a, b] two", "  one   two"),
    ("cross_posts", "drop", "X-post from /r/banjo: tin, cross-posted r/tin", "  tin,  "),
    ("cross_posts", "drop", "max-post r/a, x-post from TIL, (x-post from r/a", "max-post r/a, x-post from TIL, ( "),
    ("cross_posts", "keep", "Dusk (x-post from r/pics)", "Dusk (x-post from r/pics)"),
    ("hashtags", "drop", "#北京 加油##武汉#早", "  早"),
    ("hashtags", "drop", "#flood is bad #help", "  is bad  "),
    ("hashtags", "drop", "we are #1", "we are #1"),
    ("hashtags", "drop", "C# and F#", "C# and F#"),
    ("hashtags", "mask", "#武汉#早", " <tag> 早"),
    ("hashtags", "keep", "#武汉#早", "#武汉#早"),
    ("residue", "drop", "#好# ? L新华网的秒拍视频 ??? 收起全文d", "#好#      "),
    ("residue", "drop", "他们昨天才知道…全文", "他们昨天才知道… "),
    ("residue", "drop", "早上好 来自iPhone客户端", "早上好  "),
    ("residue", "drop", "武汉加油 2内江·威远", "武汉加油 "),
    ("residue", "drop", "2月底 开学，2内江好", "2月底 开学，2内江好"),
    ("residue", "drop", "email的微博视频？ 为什么?", "email的微博视频？ 为什么?"),
    ("residue", "keep", "好 ? 展开全文c", "好 ? 展开全文c"),
    ("emoji", "drop", "赞👍🏽👨‍👩‍👧🇨🇳❤️1️⃣[doge][泪]啊", "赞 啊"),
    ("emoji", "drop", "\ue415好", " 好"),
    ("emoji", "drop", "[1] [两个 词] [a[b] c[0]", "[1] [两个 词] [a  c[0]"),
    ("emoji", "mask", "赞👍👍[doge]", "赞 <emoji> "),
    ("emoji", "keep", "赞👍👍[doge]", "赞👍👍[doge]"),
    ("digits", "mask", "确诊10例，+١٢", "确诊0例，+0"),
    ("digits", "keep", "确诊10例", "确诊10例"),
    ("repeated_punctuation", "collapse", "哈哈！！！??。。~~——...", "哈哈！?。~—…"),
    ("repeated_punctuation", "collapse", "#a##b# http://x 👍👍 !?!?", "#a##b# http://x 👍👍 !?!?"),
    ("repeated_punctuation", "keep", "！！！", "！！！"),
    ("white_space", "collapse", " a\t\r\n b\u3000c\x85", "a b c"),
    ("white_space", "collapse", "a\u200bb\ufeff\u00ad\u202ec", "abc"),
    ("white_space", "drop", " a \n b ", "ab"),
    ("white_space", "keep", " a \n\u200b b ", " a \n\u200b b "),
]  # fmt: skip


def microblog(**options: Any) -> MicroblogNormalizer:
    return MicroblogNormalizer(MicroblogOptions(**options))


def normalize(text: str, **options: Any) -> str:
    return microblog(**options).normalize_batch([text])[0]


def test_none_returns_equal_texts() -> None:
    texts = ["", " A ", "\ud800", "\x00", BOUNDARY]
    assert NoNormalizer().normalize_batch(texts) == texts


def test_options_can_turn_everything_off() -> None:
    text = "//@a: RT @b 转发微博 ＡＢ…e\u0301 媽 http://x #y# 👍[doge] 12 !! \u200b \n [1]"
    assert normalize(text, **NOTHING) == text


@pytest.mark.parametrize(("option", "value", "text", "expected"), CASES)
def test_an_option_does_what_its_description_says(option: str, value: str, text: str, expected: str) -> None:
    assert normalize(text, **NOTHING | {option: value}) == expected


def test_every_value_of_every_option_has_an_example() -> None:
    properties = MicroblogOptions.model_json_schema()["properties"]
    named = {option: [schema, *schema.get("anyOf", ())] for option, schema in properties.items()}
    declared = {(option, value) for option in named for form in named[option] for value in form.get("enum", ())}
    assert declared == {case[:2] for case in CASES}


def test_defaults_suit_weibo() -> None:
    post = "【ＮＥＷＳ】确诊12例！！ #武汉加油#[泪] @央视新闻  http://t.cn/A6Zg5cuw //@张三:回复@李四:真的？？"
    assert normalize(post) == "【news】确诊12例! #武汉加油#[泪] 真的?"


@pytest.mark.parametrize("text", ["", " \n ", "http://t.cn/a", "@张三 @李四", "//@a:", "转发微博", "\u200b"])
def test_a_text_of_which_nothing_is_left_is_empty(text: str) -> None:
    """So that it equals only texts equal before normalizing; also where white space is kept."""
    assert normalize(text) == ""
    assert normalize(text, white_space="keep").strip("\u200b") == ""


MASKED = {"urls": "http://x", "mentions": "@a", "reposts": "//@a:", "hashtags": "#a#", "emoji": "👍", "digits": "2020"}


@pytest.mark.parametrize(("part", "text"), MASKED.items())
def test_masks_alone_count_as_nothing(part: str, text: str) -> None:
    assert normalize(f" {text}  {text}", **NOTHING | {part: "mask"}) == ""


def test_batches_larger_than_a_slice_keep_their_order() -> None:
    texts = [f"Post {row}" for row in range(2000)]
    texts[7] = "Ａ" * (BATCH_CHARACTERS + 1)
    normalized = microblog().normalize_batch(texts)
    assert normalized[7] == "a" * (BATCH_CHARACTERS + 1)
    assert normalized[:7] + normalized[8:] == [text.lower() for text in texts[:7] + texts[8:]]


def test_the_recipe_names_the_table_where_it_is_used() -> None:
    table = Path(tables.__file__).with_name("traditional.txt")
    checksum = hashlib.sha256(table.read_bytes()).hexdigest()
    assert microblog(spelling="keep").recipe() == {"traditional_table": checksum}
    assert microblog(traditional="keep", spelling="keep").recipe() == {}


def test_the_recipe_names_the_spellings_where_they_are_folded() -> None:
    assert microblog(traditional="keep").recipe() == {"spellings": spellings_checksum()}


def test_no_simplified_character_is_changed_again() -> None:
    table = simplified_characters()
    assert not set(table) & set(table.values())


@pytest.mark.parametrize("character", "著着后里乾干吒瞭藉摺")
def test_characters_of_simplified_text_stay(character: str) -> None:
    assert character not in simplified_characters()


@pytest.mark.parametrize(("before", "after"), ["後后", "髮发", "發发", "裏里", "麼么", "於于", "羅罗", "飯饭"])
def test_everyday_traditional_characters_are_simplified(before: str, after: str) -> None:
    assert simplified_characters()[before] == after


def test_the_table_script_leaves_out_what_cannot_be_decided_by_character() -> None:
    """Simplified characters, several for one and compatibility forms are left out; chains are followed to the end."""
    pairs = {"媽": "妈", "乾": "干", "後": "后", "薴": "苧", "苧": "苎", "龍": "龙头", "\uf900": "岂"}
    like_opencc = SimpleNamespace(convert=lambda text: "".join(pairs.get(character, character) for character in text))
    assert simplified_pairs(like_opencc) == {"媽": "妈", "後": "后", "薴": "苎", "苧": "苎"}
