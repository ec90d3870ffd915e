"""What a page owes people with a keyboard or a screen reader: names, roles, headings, landmarks, contrast, focus."""

from support.browser import Page

CONTROLS = {
    "DisclosureTriangle", "application", "button", "checkbox", "combobox", "dialog", "grid", "image", "link", "listbox",
    "option", "radio", "region", "searchbox", "slider", "spinbutton", "switch", "tab", "tabpanel", "textbox",
}  # fmt: skip

# Rows of text that stand on a known ground: [text, ratio, needed].
CONTRAST = r"""(() => {
  const parse = (text) => {
    const numbers = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    if (text.startsWith("color(")) return [...numbers.slice(0, 3).map((one) => one * 255), numbers[3] ?? 1];
    return [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1];
  };
  const over = (top, below) => top.slice(0, 3).map((one, index) => one * top[3] + below[index] * (1 - top[3]));
  const ground = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((one) => {
      const part = one / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const bad = [];
  let count = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim()) continue;
    if (["SCRIPT", "STYLE", "NOSCRIPT", "OPTION"].includes(element.tagName)) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const text = over(parse(style.color), below);
    const [high, low] = [light(text), light(below)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    count += 1;
    if (ratio < needed) bad.push(`${walker.currentNode.data.trim().slice(0, 40)}: ${ratio.toFixed(2)} < ${needed}`);
  }
  return { count, bad };
})()"""

STRUCTURE = r"""(() => {
  const shown = (element) => element.checkVisibility({ visibilityProperty: true });
  const bad = [];
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(shown);
  const levels = headings.map((one) => Number(one.tagName[1]));
  const first = levels.filter((level) => level === 1).length;
  if (first !== 1) bad.push(`${first} headings of level 1`);
  if (levels[0] !== 1) bad.push(`the first heading has level ${levels[0]}`);
  levels.forEach((level, index) => {
    const before = levels[index - 1];
    if (index && level > before + 1) bad.push(`a heading of level ${level} follows one of level ${before}`);
  });
  for (const [selector, name] of [["body > header", "banner"], ["nav", "navigation"], ["main", "main"]]) {
    if (document.querySelectorAll(selector).length !== 1) bad.push(`not one ${name}`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  const double = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (double.length) bad.push(`ids twice: ${double}`);
  for (const name of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-activedescendant"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      for (const id of element.getAttribute(name).split(/\s+/)) {
        if (!document.getElementById(id)) bad.push(`${name} of nothing: ${id}`);
      }
    }
  }
  const main = document.querySelector("main");
  const wide = document.scrollingElement.scrollWidth;
  if (wide > innerWidth) bad.push(`the page is ${wide} wide, and has ${innerWidth}`);
  const [content, room] = [main.scrollWidth, main.clientWidth];
  if (content > room) bad.push(`the view is ${content} wide, and has ${room}`);
  for (const element of document.querySelectorAll("button, a[href], input, select, textarea, summary")) {
    const box = element.getBoundingClientRect();
    if (!shown(element) || element.id === "skip" || element.closest("p, td, th, li > span")) continue;
    const label = element.closest("label")?.getBoundingClientRect();
    const [width, height] = [Math.max(box.width, label?.width ?? 0), Math.max(box.height, label?.height ?? 0)];
    if (width < 24 || height < 22) bad.push(`${width} × ${height} is too small: ${element.outerHTML.slice(0, 90)}`);
  }
  return bad;
})()"""


async def problems(page: Page) -> list[str]:
    """What is wrong with the page as it is now; nothing if all is well."""
    found = list(await page.value(STRUCTURE))
    contrast = await page.value(CONTRAST)
    assert contrast["count"] > 10, "the page has no text"
    found += contrast["bad"]
    tree = (await page.ask("Accessibility.getFullAXTree"))["nodes"]
    controls = [node for node in tree if not node["ignored"] and node.get("role", {}).get("value") in CONTROLS]
    assert len(controls) > 8, "the page has no controls"
    for node in controls:
        if not node.get("name", {}).get("value", "").strip():
            found.append(f"a {node['role']['value']} without a name: {await _markup(page, node)}")
    return found


async def _markup(page: Page, node: dict) -> str:
    described = await page.ask("DOM.describeNode", backendNodeId=node["backendDOMNodeId"])
    attributes = described["node"].get("attributes", [])
    return " ".join([described["node"]["nodeName"], *attributes])[:120]


async def focus_order(page: Page, most: int = 400) -> list[dict]:
    """Goes through the page with Tab, from its first control on. Each stop: what it is, and if its focus is visible."""
    # After a key the browser shows the focus of scripts, too.
    await page.key("Tab")
    await page.value("window.firstStop = null; document.getElementById('skip').focus()")
    stops: list[dict] = []
    while len(stops) < most and (stop := await page.value(STOP)):
        stops.append(stop)
        await page.key("Tab")
    return stops


# The element with the focus, or null if the focus has left the page or is at its first stop again.
STOP = """(() => {
  const element = document.activeElement;
  if (!element || element === document.body || element === window.firstStop) return null;
  window.firstStop ??= element;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  return {
    what: `${element.tagName} ${element.id} ${element.getAttribute("aria-label") ?? element.textContent.slice(0, 30)}`,
    visible: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.width > 0,
  };
})()"""
