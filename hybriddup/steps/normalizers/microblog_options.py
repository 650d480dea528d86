"""Options of the normalizer `microblog`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hybriddup.steps.normalizers.residue import ResiduePattern
from hybriddup.steps.options import Options as ComponentOptions

Treatment = Literal["keep", "drop", "mask"]
TreatmentOfContent = Literal["keep", "drop", "mask", "drop_decoration"]


class MicroblogOptions(ComponentOptions):
    """Treatment of each part of a post by `microblog`; the defaults suit Weibo."""

    unicode: Literal["nfkc", "none"] = "nfkc"
    """nfkc: one form for full-width, ligature and accented characters (Unicode NFKC)."""
    case: Literal["fold", "keep"] = "fold"
    """fold: upper and lower case count as the same."""
    traditional: Literal["simplify", "keep"] = "simplify"
    """simplify: traditional Chinese characters become simplified ones, one by one."""
    spelling: Literal["fold", "keep"] = "fold"
    """fold: characters with several spellings get one: words with and without Arabic and Hebrew points, alef, ya and
    kaf, ё, dotless i, nukta and anusvara, digits of other scripts, typographic quotes and dashes."""
    markup: Literal["drop", "keep"] = "drop"
    """drop: HTML tags are removed, and entities such as &amp; become their characters."""
    mojibake: Literal["repair", "keep"] = "repair"
    """repair: â€™ becomes ’, and other wrongly decoded text is repaired if the repair is certain."""
    urls: TreatmentOfContent = "drop_decoration"
    """http:// and www. addresses, short links (t.cn/A6, bit.ly/A6), and Weibo's O网页链接. drop_decoration: a link
    stays in a post with few other words."""
    mentions: TreatmentOfContent = "drop_decoration"
    """@user; a mail address stays. drop_decoration: a mention inside a sentence stays, and so does one at the end of a
    post with few other words."""
    reposts: Literal["keep", "drop", "mask", "drop_trail"] = "drop"
    """Repost markers //@user: and RT @user:, the address 回复@user:, and the stock comment 转发微博. drop: removes
    the markers, quoted words stay. drop_trail: removes the quotes too, all after the first comment with words."""
    cross_posts: Literal["keep", "drop"] = "keep"
    """(x-post from r/pics) and similar notes on where else a title was posted."""
    hashtags: Treatment = "keep"
    """#topic# as on Weibo, #topic as elsewhere."""
    emoji: Treatment = "keep"
    """Emoji, icons in private characters, and emoticons in brackets such as [doge]."""
    residue: Literal["keep", "drop"] | Annotated[tuple[ResiduePattern, ...], Field(min_length=1)] = "keep"
    """Residue of Weibo and its crawlers: 收起全文d, L新华网的秒拍视频, a place such as 2内江, and question marks
    between spaces in place of emoji. A list of regular expressions (RE2 syntax, matched after unicode, case and
    traditional are folded) drops their matches, then the built-in residue."""
    digits: Literal["keep", "mask"] = "keep"
    """mask: each run of digits becomes 0."""
    repeated_punctuation: Literal["keep", "collapse"] = "collapse"
    """collapse: a repeated mark, such as ！！！, is reduced to one, three or more dots to an ellipsis; # and /
    stay unchanged."""
    white_space: Literal["keep", "collapse", "drop"] = "collapse"
    """collapse: runs become one space, and both ends are stripped; drop: all white space is removed. Both drop
    invisible characters, such as zero-width spaces and direction marks."""
