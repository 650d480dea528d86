"""Each built-in guard on sentences of its own, in many languages: what it keeps apart, and what it does not."""

from typing import Any

import pytest

from hybriddup.config import load_settings
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.run.guarding import GuardPlan, plan_guards

REGISTRY = create_plugin_manager(entry_points=False).registry


def plan_of(must_agree: list[Any]) -> GuardPlan:
    """The guards as a run has them, for texts of every length."""
    settings = load_settings({"must_agree": must_agree})
    return plan_guards(settings.guards(), lambda one: REGISTRY.create_by_name("guard", one.use, **one.options))


def reasons(must_agree: list[Any], a: str, b: str) -> list[str]:
    """What keeps two normalized posts apart, the same both ways round."""
    plan = plan_of(must_agree)
    there, back = plan.reasons(a, b, 1), plan.reasons(b, a, 1)
    assert len(there) == len(back)
    return there


APART = {
    "numbers": [
        ("the ferry leaves at 9 from pier 4", "the ferry leaves at 10 from pier 4", "9 / 10"),
        ("tickets cost 40 euros at the door", "tickets cost forty-five euros at the door", "40 / forty five"),
        ("our dog ate seven socks this week", "our dog ate nine socks this week", "seven / nine"),
        ("the choir meets on monday in the hall", "the choir meets on friday in the hall", "monday / friday"),
        ("group a plays in the small stadium", "group b plays in the small stadium", "group a / group b"),
        ("photo of class 1c, school of saint peter", "photo of class 1b, school of saint peter", "1c / 1b"),
        ("the film runs in hall 3a", "the film runs in hall 3b", "3a / 3b"),
        ("the lost lighthouse, part i", "the lost lighthouse, part ii", "part i / part ii"),
        ("the lost lighthouse, part i", "the lost lighthouse, part ii -", "part i / part ii"),
        ("the lost lighthouse (iv)", "the lost lighthouse (v)", "iv / v"),
        ("合唱团在花园站b口集合", "合唱团在花园站d口集合", "b口 / d口"),
        ("blue raincoat, size m, never worn", "blue raincoat, size l, never worn", "size m / size l"),
        ("doors open at 7 pm on the left", "doors open at 7 am on the left", "pm / am"),
        ("书店二楼有三位客人在看书", "书店二楼有八位客人在看书", "三 / 八"),
        ("今天最高气温三十一度", "今天最高气温二十六度", "三十一 / 二十六"),
        ("两人在山里迷路", "九人在山里迷路", "两 / 九"),
        ("主队四比零获胜", "主队二比零获胜", "四 / 二"),
        ("图书馆周二闭馆", "图书馆周五闭馆", "周二 / 周五"),
        ("捐款已达3万元", "捐款已达3千元", "3万 / 3千"),
        ("練習は九時からです", "練習は十時からです", "九 / 十"),
        ("die bäckerei hat drei neue öfen", "die bäckerei hat fünf neue öfen", "drei / fünf"),
        ("le marché ouvre en avril cette année", "le marché ouvre en juin cette année", "avril / juin"),
        ("la feria empieza el 3 de mayo", "la feria empieza el 3 de julio", "mayo / julio"),
        ("no jardim há seis gatos pretos", "no jardim há oito gatos pretos", "seis / oito"),
        ("в автобусе ехали шесть человек", "в автобусе ехали девять человек", "шесть / девять"),
        ("bahçede dört kedi uyuyor", "bahçede yedi kedi uyuyor", "dört / yedi"),
        ("di kebun ada empat ayam", "di kebun ada tujuh ayam", "empat / tujuh"),
        ("ahora en la radio #tarde17h con música", "ahora en la radio #tarde19h con música", "17 / 19"),
        ("friday: the library has new shelves", "the library has new shelves on sunday", "friday / sunday"),
        ("guten morgen aus dem hafen, ich wünsche euch einen ruhigen start und einen sonnigen donnerstag an deck",
         "guten morgen aus dem hafen, bleibt gesund, passt auf die möwen auf und habt einen schönen #samstag",
         "donnerstag / samstag"),
        ("good evening from the harbour, have a nice friday",
         "good evening from the harbour, have a nice day", "friday / none"),
        ("guten morgen aus dem hafen, ich wünsche euch einen schönen sonntag! #möwe",
         "guten morgen aus dem hafen! es ist 1 grad wärmer an deck. ich wünsche euch einen schönen tag! #kalt",
         "sonntag / none"),
        ("the pool is shut from saturday noon to sunday night",
         "the pool is shut from friday noon to saturday night", "saturday, sunday / friday, saturday"),
        ("우리 마을 산책 일기 두번째 이야기", "우리 마을 산책 일기 세번째 이야기", "두번째 / 세번째"),
    ],
    "negation": [
        ("the bridge is safe for heavy trucks", "the bridge is not safe for heavy trucks", "none / not"),
        ("you can park in front of the school", "you can't park in front of the school", "none / can't"),
        ("the soup is edible after two days", "the soup is inedible after two days", "none / inedible"),
        ("这家店的面条真的好吃", "这家店的面条真的不好吃", "none / 不"),
        ("明天会下雪", "明天不会下雪", "none / 不"),
        ("邻居都收到新的钥匙了", "邻居都没收到新的钥匙", "none / 没"),
        ("合唱团同意换教室", "合唱团不同意换教室", "none / 不"),
        ("明日の遠足は中止です", "明日の遠足は中止ではない", "none / ない"),
        ("나는 오늘 회사에 가요", "나는 오늘 회사에 안 가요", "none / 안"),
        ("der aufzug ist heute in betrieb", "der aufzug ist heute nicht in betrieb", "none / nicht"),
        ("le musée est ouvert ce soir", "le musée n'est pas ouvert ce soir", "none / pas"),
        ("el tren para en este pueblo", "el tren no para en este pueblo", "none / no"),
        ("мы едем завтра на море", "мы не едем завтра на море", "none / не"),
        ("maç yarın oynanacak", "maç yarın oynanmayacak", "none / oynanmayacak"),
        ("toko ini buka pada hari minggu", "toko ini tidak buka pada hari minggu", "none / tidak"),
        ("thanks!", "no thanks", "none / no"),
        ("quán này mở cửa buổi tối", "quán này không mở cửa buổi tối", "none / không"),
        ("المتحف مفتوح اليوم للزوار", "المتحف ليس مفتوح اليوم للزوار", "none / ليس"),
        ("आज दुकान खुली है", "आज दुकान खुली नहीं है", "none / नहीं"),
        ("ร้านนี้เปิดวันนี้", "ร้านนี้ไม่เปิดวันนี้", "none / ไม่"),
        ("i would hire this choir again, they sing well",
         "i would not hire this choir again, they sing well but too late", "none / not"),
    ],
    "opposites": [
        ("analysts say buy the shares of the mill", "analysts say sell the shares of the mill", "buy / sell"),
        ("the north gate is open all night", "the south gate is open all night", "north / south"),
        ("这是我喝过最好的茶", "这是我喝过最差的茶", "好 / 差"),
        ("请从东门进入校园", "请从西门进入校园", "东 / 西"),
        ("厨师把客人骂了一顿", "厨师被客人骂了一顿", "把 / 被"),
        ("出一张周六合唱的票", "收一张周六合唱的票", "出 / 收"),
        ("the ferry line is approved by the council", "the ferry line is rejected by the council",
         "approved / rejected"),
        ("der laden ist montags geöffnet", "der laden ist montags geschlossen", "geöffnet / geschlossen"),
        ("цены на хлеб: сегодня больше", "цены на хлеб: сегодня меньше", "больше / меньше"),
        ("강가에서 텐트 설치가 허용됩니다", "강가에서 텐트 설치가 금지됩니다", "허용됩니다 / 금지됩니다"),
        ("my uncle bakes the bread for the fair", "my grandma bakes the bread for the fair", "uncle / grandma"),
    ],
    "names": [
        ("night trains from bath to bristol", "night trains from bristol to bath", "bath to bristol / bristol to bath"),
        ("the ferry is much nicer at night than the tram", "the tram is much nicer at night than the ferry",
         "ferry is much nicer at night than the tram / tram is much nicer at night than the ferry"),
        ("nebel auf der a99 richtung airdrie", "nebel auf der a99 richtung cochrane", "airdrie / cochrane"),
        ("a talk by professor lindgren on moss", "a talk by professor okafor on moss", "lindgren / okafor"),
        ("new bakery opened in airdrie last week", "new bakery opened in cochrane last week", "airdrie / cochrane"),
        ("'lindgren' is the word of the week", "#mossday is the word of the week", "lindgren / mossday"),
        ("the way tom sings at the harbour in the morning", "the way greg sings at the harbour in the morning",
         "tom / greg"),
        ("analysts like $moss and the river mills", "analysts like $oats and the river mills", "moss / oats"),
        ("北京到上海的夜班火车", "上海到北京的夜班火车", "北京到上海 / 上海到北京"),
        ("围棋:李明四比一战胜王芳", "围棋:王芳四比一战胜李明", "李明四比一战胜王芳 / 王芳四比一战胜李明"),
        ("云南的花市今天开门", "福建的花市今天开门", "云南 / 福建"),
        ("埼玉県の花火大会は中止です", "千葉県の花火大会は中止です", "埼玉 / 千葉"),
        ("王老师的合唱课改到礼堂", "赵老师的合唱课改到礼堂", "王老师 / 赵老师"),
    ],
    "links": [("my new recipe: https://example.org/rye", "my new recipe: https://example.org/oats",
               "example.org/rye / example.org/oats")],
    "mentions": [("happy birthday @anna_k !", "happy birthday @tom_w !", "@anna_k / @tom_w")],
    "emoji": [("gold medal 🇫🇷", "gold medal 🇩🇪", "🇫🇷 / 🇩🇪"), ("open today? 👍", "open today? 👎", "👍 / 👎")],
}  # fmt: skip

TOGETHER = {
    "numbers": [
        ("la ville a dépensé 6.000 euros", "la ville a dépensé 6000 euros"),
        ("the puppy weighs 1.0 kilos", "the puppy weighs 1 kilos"),
        ("three swans on the canal", "3 swans on the canal"),
        ("the film runs in hall 3a", "the film runs in hall 3"),
        ("a run of 5k along the river", "a run of 5 k along the river"),
        ("两人在山里迷路", "2人在山里迷路"),
        ("我们一起去看电影吧", "我们去看场电影吧"),
        ("这家店十分好吃", "这家店非常好吃"),
        ("万一下雨就改天", "如果下雨就改天"),
        ("free followers for everyone who retweets this message today, hurry up and tell all the others 118",
         "free followers for everyone who retweets this message today, hurry up and tell all the others 28"),
        ("please share this poster with all your neighbours #8",
         "please share this poster with all your neighbours #9"),
        ("we counted 12 herons", "we counted 12 herons and 3 gulls"),
        ("what a day for the parade", "yesterday was a day for the parade"),
        ("closed on monday, see you on tuesday", "see you on tuesday, we are closed"),
        ("closed monday and tuesday for repairs of the roof", "for repairs of the roof closed on tuesday"),
        ("the bakery closes on friday for good", "the bakery closes on fri for good"),
        ("the bakery closes on friday for good", "the bakery closes on the 7th for good"),
        ("thanks to all who cleaned the beach on monday with us", "thanks to all who cleaned the b..."),
        ("open on saturday and sunday at the old mill", "open on sunday and saturday at the old mill"),
        ("the bakery closes for good on friday", "the bakery closes for good"),
        ("on friday the bakery closes for good #sad", "on friday the bakery closes for good #bread #friday"),
        ("the bakery closes for good #sad", "the bakery closes for good #friday"),
    ],
    "negation": [
        ("it rains again today", "it rains again today. do not forget your boots"),
        ("这家店的面条不错", "这家店的面条真不错"),
        ("no way, the lake is frozen", "oh no, the lake is frozen"),
        ("特别的一天", "非常特别的一天"),
        ("唔,好想吃面", "好想吃面"),
        ("the bakery is open until nine", "the bakery is open til nine"),
        ("flight cancelled, no explanation and no more seats", "flight cancelled, and no more seats"),
        ("在家吗我来还书", "在家不我来还书"),
        ("em casa no fim do dia com você", "em casa ao fim do dia com você"),
        ("路上滑大家要小心~", "路上滑大家要小心![不要]"),
    ],
    "opposites": [("a big cake for the school", "a huge cake for the school"), ("他们都来了", "他们都来啦"),
                  ("#湖北除武汉外开放# 取悦别人不如取悦自己", "#钟南山武汉外开放# 取悦别人不如取悦自己")],
    "names": [
        ("nice work everyone and thank you", "thank you everyone and nice work"),
        ("salt and pepper on the table", "pepper and salt on the table"),
        ("#rain the old harbour opens again", "#news the old harbour opens again"),
        ("the old harbour opens again by #rainynews via", "the old harbour opens again by #seasidetimes via"),
        ("笑死我了哈哈哈哈哈", "哈哈哈哈哈笑死我了"),
        ("we met at the harbour yesterday", "we met at the harbor yesterday"),
        ("你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"),
        ("all the gulls of the harbour sat on the roof of the mill today",
         "all the gulls of the harbour sat on the roof of the… read more"),
        ("tickets for the choir are $1000 in all", "tickets for the choir are $1,000 in all"),
    ],
    "links": [("my new recipe: https://example.org/rye", "my new recipe"),
              ("see https://example.org/", "see http://www.example.org")],
    "mentions": [("thanks @anna_k for the soup", "thanks for the soup")],
    "emoji": [("open today? 👍🏽", "open today? 👍👍"), ("open today? 👍", "open today?")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("guard", "a", "b", "differing"), [(guard, *pair) for guard, pairs in APART.items() for pair in pairs]
)
def test_two_posts_are_kept_apart_for_what_differs(guard: str, a: str, b: str, differing: str) -> None:
    assert reasons([guard], a, b) == [f"{guard} {differing}"]


@pytest.mark.parametrize(("guard", "a", "b"), [(guard, *pair) for guard, pairs in TOGETHER.items() for pair in pairs])
def test_repeats_are_not_kept_apart(guard: str, a: str, b: str) -> None:
    assert reasons([guard], a, b) == []


@pytest.mark.parametrize("guard", ["numbers", "links", "mentions", "emoji"])
def test_strict_asks_for_the_same_on_both_sides(guard: str) -> None:
    a, b = "the kiln is hot", "the kiln is hot 7 https://example.org @anna 🎉"
    assert reasons([guard], a, b) == []
    assert len(reasons([{"use": guard, "strict": True}], a, b)) == 1


def test_words_of_the_user_must_agree() -> None:
    own = [{"words": ["买", "draft", "Final"]}]
    assert reasons(own, "我想买两张票", "我想要两张票") == ["words 买 / none"]
    assert reasons(own, "the FINAL plan", "the draft plan") == ["words final / draft"]
    assert reasons(own, "two drafts of it", "one drafts of it") == []


def test_each_guard_that_objects_gives_its_reason() -> None:
    a, b = "the 3 lifts are safe", "the 5 lifts are not safe"
    assert reasons(["negation", "numbers"], a, b) == ["negation none / not", "numbers 3 / 5"]
