"""Pages in a real browser: what they may ask for, and whether their text can be read."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MARKUP = "<img src=x onerror=\"document.title='owned'\"> <script>document.title='owned'</script> & more of it"
"""A post that tries to be more than text."""


@contextmanager
def opened(browser: Any, address: str, *allowed: str, **options: Any) -> Iterator[Any]:
    """Yield a page; anything that it complains about, or asks for beside what is allowed, fails the test."""
    context = browser.new_context(**options)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda one: complaints.append(one.text) if one.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda one: None if one.url.startswith((address, *allowed)) else complaints.append(one.url))
    page.goto(address)
    yield page
    context.close()
    assert complaints == []


LOW_CONTRAST = """() => {
  const numbers = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
  const light = (color) => {
    const [r, g, b] = numbers(color).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const back = getComputedStyle(at).backgroundColor;
      if (numbers(back)[3] !== 0) return back;
    }
    return "rgb(255, 255, 255)";
  };
  const inkOf = (element) => {
    const style = getComputedStyle(element);
    return element instanceof SVGElement ? style.fill : style.color;
  };
  const hasText = (element) => [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  const shown = [...document.querySelectorAll("body *:not(title)")].filter((e) => hasText(e) && e.checkVisibility());
  return shown.filter((e) => {
    const [a, b] = [light(inkOf(e)), light(backOf(e))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05) < 4.5;
  }).map((e) => `${e.tagName}.${e.className} ${e.textContent.slice(0, 30)}`);
}"""
"""Returns the texts that can be seen and differ from what is behind them by less than WCAG asks for, 4.5 to 1."""
