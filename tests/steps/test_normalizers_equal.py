"""Which posts the default normalizer makes equal, and which it keeps apart, in many languages."""

import pytest

import hybriddup
from hybriddup.steps.normalizers.microblog import MicroblogNormalizer

NORMALIZER = MicroblogNormalizer(MicroblogNormalizer.Options(reposts="mask", residue="drop"))
ARABIC, POINTED = "صباح الخير يا جارتي الجديدة", "صَبَاحُ الخَيْرِ يا جَارَتِي الجديدة"
EMOTICON = '<span class="url-icon"><img alt="[{}]" src="https://pic.example/{}.png" style="width:1em"/></span>'

EQUAL = [
    ("html tags", "<p>The <b>old</b> bridge is open again</p>", "The old bridge is open again"),
    ("html line", "Doors at seven<br/>music at nine", "Doors at seven\nmusic at nine"),
    ("html emoticon", "今天的面条真好吃" + EMOTICON.format("馋嘴", "cz"), "今天的面条真好吃[馋嘴]"),
    ("html cut", '昨晚的烟花看到一半...<a href="/status/1">全文</a>', "昨晚的烟花看到一半……"),
    ("entities", "Fish &amp; chips &quot;to go&quot; &#8211; it&rsquo;s &lt;5", "Fish & chips \"to go\" - it's <5"),
    ("escaped twice", "Fish &amp;amp; chips", "Fish & chips"),
    ("tags escaped", "Fish &lt;br&gt;and chips", "Fish and chips"),
    ("mojibake", "We donâ€™t know yet ðŸŽ‰ cafÃ©", "We don't know yet 🎉 café"),
    ("mojibake of Cyrillic", "ÐŸÑ€Ð¸Ð²ÐµÑ‚, Ð¼Ð¸Ñ€", "Привет, мир"),
    ("escaped bytes", r"Tickets 5\u20ac \xf0\x9f\x8e\xab", "Tickets 5€ 🎫"),
    ("points", ARABIC, POINTED),
    ("tatweel", "شكرا جزيلا", "شكــرا جــزيلا"),
    ("alef and ta marbuta", "أحمد إلى المكتبة", "احمد الي المكتبه"),
    ("Persian letters", "یک کتاب خوب", "يك كتاب خوب"),
    ("Persian without joiner", "می‌روم خانه", "میروم خانه"),
    ("Hebrew points", "שלום עולם", "שָׁלוֹם עוֹלָם"),
    ("yo", "Ещё один ёж", "Еще один еж"),
    ("Turkish i", "İSTANBUL ışıl", "istanbul işil"),
    ("nukta", "ख़बर क़लम", "खबर कलम"),
    ("anusvara", "हिन्दी का अम्बर और गङ्गा", "हिंदी का अंबर और गंगा"),
    ("Malayalam chillu", "അവൻ", "അവന്\u200d"),
    ("Thai ae", "แม่ครัว", "เเม่ครัว"),
    ("Thai am", "น้ำเย็น", "น้ํ\u0e32เย็น"),
    ("half-width kana", "コーヒー牛乳", "ｺｰﾋｰ牛乳"),
    ("digits of scripts", "الساعة ١٢", "الساعة 12"),
    ("apostrophes", "It’s the neighbour‘s cat", "It's the neighbour`s cat"),
    ("quotes", "„Morgen“ sagte «er»", '"Morgen" sagte "er"'),
    ("dashes", "open 9–5 — again", "open 9-5 - again"),
    ("strokes", "s̶o̶l̶d̶ out", "sold out"),
    ("joined emoji", "ok 👩\u200d🚀\ufe0f", "OK 👩\u200d🚀"),
    ("flags of tags", "ok 🏴\U000e0067\U000e0062\U000e007f", "OK 🏴\U000e0067\U000e0062\U000e007f"),
    ("answers", "@ann_b I left my umbrella on the tram", "@carl I left my umbrella on the tram"),
    ("mentions at the end", "I left my umbrella on the night tram @ann_b", "I left my umbrella on the night tram"),
    ("link beside words", "The night train to the coast is back https://x.io", "The night train to the coast is back https://y.io"),
    ("modified tweet", "MT @a: The night train is back", "RT @carl: The night train is back"),
    ("link by word", "夜行列车今年冬天恢复运营，票价不变网页链接", "夜行列车今年冬天恢复运营，票价不变http://t.cn/A1"),
    ("cut", "夜行列车今年冬天恢复运营，票价...全文", "夜行列车今年冬天恢复运营，票价…展开"),
    ("client", "夜行列车今年冬天恢复运营，票价不变 来自安卓客户端", "夜行列车今年冬天恢复运营，票价不变"),
]  # fmt: skip

DIFFERENT = [
    ("emoticons of html", EMOTICON.format("赞", "z"), EMOTICON.format("怒", "n")),
    ("hearts are no tags", "me <3 you", "me you"),
    ("comparisons are no tags", "a < b and c > d", "a d"),
    ("Devanagari vowels", "पानी दो", "पानी दे"),
    ("Devanagari nukta of other words", "पेड़", "पेड"),
    ("Thai vowels", "ปีนี้ดี", "ปีนี้ดู"),
    ("Thai tones", "ข้าวใหม่", "ข่าวใหม่"),
    ("Vietnamese tones", "cơm ngon quá", "cờm ngon quá"),
    ("accents", "il a mange", "il a mangé"),
    ("emoji of several", "👨\u200d👩\u200d👧", "👨👩👧"),
    ("flags", "🏴\U000e0067\U000e0062\U000e0065\U000e007f", "🏴\U000e0067\U000e0062\U000e0073\U000e007f"),
    ("cut and full stop", "and then we left.", "and then we left..."),
    ("mention inside", "Great evening with @ann_b at the chess club", "Great evening with @carl at the chess club"),
    ("mention inside, Chinese", "祝贺@小李 考上了大学", "祝贺@小王 考上了大学"),
    ("mention at the end of little", "Congratulations @ann_b", "Congratulations @carl"),
    ("link of little", "My new recipe: https://x.example/1", "My new recipe: https://x.example/2"),
    ("link of little, Chinese", "发了一篇新文章 http://t.cn/A1", "发了一篇新文章 http://t.cn/B2"),
    ("link of emoji", "😂😂 https://x.example/1", "😂😂 https://x.example/2"),
    ("mentions alone, cut", "RT @p: @a @b @c…", "RT @p: @d @e @f…"),
]  # fmt: skip

INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u200b\u200c\u200d\u2060\u206a\u2800\u3164"
INVISIBLE += "\ufe0f\ufeff\uffa0\ufff9\U0001d173\U000e0001\U000e0061\U000e0100"


def normalize(text: str) -> str:
    return NORMALIZER.normalize_batch([text])[0]


@pytest.mark.parametrize(("a", "b"), [pair[1:] for pair in EQUAL], ids=[pair[0] for pair in EQUAL])
def test_the_same_in_another_form_is_equal(a: str, b: str) -> None:
    assert normalize(a) == normalize(b) != ""


@pytest.mark.parametrize(("a", "b"), [pair[1:] for pair in DIFFERENT], ids=[pair[0] for pair in DIFFERENT])
def test_what_says_something_else_is_not_equal(a: str, b: str) -> None:
    assert normalize(a) != normalize(b)


@pytest.mark.parametrize("character", INVISIBLE, ids=lambda character: f"U+{ord(character):04X}")
def test_invisible_characters_between_letters_go(character: str) -> None:
    for text in ("Free coins tonight", "今晚免费送", "бесплатно", "اليوم"):
        assert normalize(character.join(text)) == normalize(text)


@pytest.mark.parametrize(("a", "b"), [pair[1:] for pair in EQUAL], ids=[pair[0] for pair in EQUAL])
def test_normalizing_again_changes_nothing(a: str, b: str) -> None:
    """So that a normalized post can be normalized like any other."""
    assert [normalize(normalize(text)) for text in (a, b)] == [normalize(a), normalize(b)]


def test_a_note_counts_the_posts_that_had_tags() -> None:
    posts = ["<p>Snow again</p>", "me <3 snow", "<repost> snow"]
    assert [note for note in hybriddup.dedupe(posts).summary.notes if "HTML" in note] == [
        "HTML tags were dropped from 1 post for comparing; the output has the original text."
    ]
    kept = hybriddup.dedupe(posts, config={"normalizer": {"markup": "keep"}})
    assert not any("HTML" in note for note in kept.summary.notes)
