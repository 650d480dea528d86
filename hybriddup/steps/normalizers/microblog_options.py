"""Options of the normalizer `microblog`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hybriddup.steps.normalizers.residue import ResiduePattern
from hybriddup.steps.options import Options as ComponentOptions

Treatment = Literal["keep", "drop", "mask"]
TreatmentOfContent = Literal["keep", "drop", "mask", "drop_decoration"]


class MicroblogOptions(ComponentOptions):
    """What `microblog` does with each part of a post; the defaults suit Weibo."""

    unicode: Literal["nfkc", "none"] = "nfkc"
    """nfkc: one form for full-width, ligature and accented characters (Unicode NFKC)."""
    case: Literal["fold", "keep"] = "fold"
    """fold: upper and lower case count as the same."""
    traditional: Literal["simplify", "keep"] = "simplify"
    """simplify: traditional Chinese characters become simplified ones, one by one."""
    spelling: Literal["fold", "keep"] = "fold"
    """fold: a word that is written in several ways has one form: Arabic and Hebrew points, alef, ya and kaf, ё, dotless
    i, nukta and anusvara, digits of other scripts, typographic quotes and dashes."""
    markup: Literal["drop", "keep"] = "drop"
    """drop: tags that HTML knows go, and entities such as &amp; become their characters."""
    mojibake: Literal["repair", "keep"] = "repair"
    """repair: â€™ becomes ’, and other text decoded wrongly is put right where that is certain."""
    urls: TreatmentOfContent = "drop_decoration"
    """http:// and www. addresses, t.cn links, and Weibo's O网页链接. drop_decoration: a link stays in a post that says
    little without it."""
    mentions: TreatmentOfContent = "drop_decoration"
    """@user; a mail address stays. drop_decoration: a mention inside a sentence stays, and so does one at the end of a
    post that says little without it."""
    reposts: Literal["keep", "drop", "mask", "drop_trail"] = "drop"
    """Repost markers //@user: and RT @user:, the address 回复@user:, and the stock comment 转发微博. drop: the marks
    go, quoted words stay. drop_trail: the quotes go too, all after the first comment with words."""
    cross_posts: Literal["keep", "drop"] = "keep"
    """(x-post from r/pics) and the like, which say where else a title was posted."""
    hashtags: Treatment = "keep"
    """#topic# as on Weibo, #topic as elsewhere."""
    emoji: Treatment = "keep"
    """Emoji, icons in private characters, and emoticons in brackets such as [doge]."""
    residue: Literal["keep", "drop"] | Annotated[tuple[ResiduePattern, ...], Field(min_length=1)] = "keep"
    """What Weibo and its crawlers leave in a text: 收起全文d, L新华网的秒拍视频, a place such as 2内江, and question
    marks that stand alone where emoji were. A list of regular expressions (of RE2, found in text in lower case, half
    width and simplified characters, as far as these are asked for) drops what these match, and then the same."""
    digits: Literal["keep", "mask"] = "keep"
    """mask: each run of digits becomes 0."""
    repeated_punctuation: Literal["keep", "collapse"] = "collapse"
    """collapse: a mark that is repeated, such as ！！！, stands once, and two dots or more are an ellipsis; # and / are
    left alone."""
    white_space: Literal["keep", "collapse", "drop"] = "collapse"
    """collapse: runs become one space, none at either end; drop: none is left. Both drop invisible characters, such as
    zero-width spaces and direction marks."""
