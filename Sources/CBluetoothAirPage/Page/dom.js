// Elements without markup: every text that a device or a file has given becomes a text node.

/** Makes an element. A property `onclick` adds a listener, `class` and `data…` are attributes, and children may be
 *  elements, texts, or null. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => (child ?? false) !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An icon of the sprite in index.html. The control around it has the name. */
export function icon(name) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", "icon");
  picture.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  picture.append(use);
  return picture;
}

/** Characters that change the text around them or can't be seen: controls, marks of direction, separators, spaces of
 *  no width, tags, and halves of surrogate pairs. The joiner of emoji stays. */
const HIDDEN = new RegExp(
  "[\\p{Cc}\\p{Cs}\\u061C\\u115F\\u1160\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF" +
  "\\uFFF9-\\uFFFB\\u{E0000}-\\u{E0FFF}]", "gu");

/** A text in which characters that can't be seen are shown by their numbers: ⟨U+202E⟩. */
export function visible(text) {
  return String(text).replace(HIDDEN, (character) =>
    `\u27E8U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}\u27E9`);
}

/** A text of a device, isolated from the direction of the text around it. */
export const foreign = (text, properties = {}) => h("bdi", properties, visible(text));

/** The name of a device, which leads to it if it is on the air. */
export const deviceLink = (store, name) =>
  store.devices.has(name) ? h("a", { href: `#device/${encodeURIComponent(name)}` }, foreign(name)) : foreign(name);

/** Sets a text only if it differs, so that screen readers and selections are not disturbed. */
export function setText(element, text) {
  const value = String(text);
  if (element.textContent !== value) element.textContent = value;
}

/** Sets or removes an attribute only if it differs. */
export function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Keeps the children of a container equal to a list: `make(item)` gives an element with a function `update(item)`. */
export function listIn(container, key, make) {
  const made = new Map();
  return (items) => {
    const wanted = new Set();
    let place = container.firstElementChild;
    for (const item of items) {
      const name = key(item);
      wanted.add(name);
      let child = made.get(name);
      if (!child) made.set(name, (child = make(item)));
      child.update?.(item);
      if (child === place) place = place.nextElementSibling;
      else container.insertBefore(child, place);
    }
    for (const [name, child] of made) {
      if (wanted.has(name)) continue;
      child.remove();
      made.delete(name);
    }
  };
}

/** A function that calls another one at most this often, and always after the last call. */
export function throttled(act, milliseconds) {
  let [timer, last] = [null, -Infinity];
  const run = () => {
    [timer, last] = [null, performance.now()];
    act();
  };
  return () => {
    timer ??= setTimeout(run, Math.max(0, last + milliseconds - performance.now()));
  };
}

/** A panel with a heading, buttons beside it, and a body. */
export function panel(title, tools = [], ...body) {
  const heading = h("h2", {}, title);
  const element = h("section", { class: "panel" }, h("header", {}, heading, ...tools), ...body);
  const id = `panel-${(panel.count = (panel.count ?? 0) + 1)}`;
  heading.id = id;
  element.setAttribute("aria-labelledby", id);
  return element;
}

/** A labelled control: the label's text stands above it. */
export const field = (label, control) => h("label", { class: "field" }, h("span", {}, label), control);

/** A list of options, of which one is chosen. */
export function choice(label, options, properties = {}) {
  return h("select", { "aria-label": label, ...properties },
    options.map(([value, text]) => h("option", { value }, text)));
}

/** A switch, which is on or off: `element.set(isOn)` shows the state, and `change(isOn)` asks for another one. */
export function toggle(label, change) {
  const element = h("button", {
    type: "button", class: "switch", role: "switch", "aria-label": label, "aria-checked": "false",
    onclick: () => change(element.getAttribute("aria-checked") !== "true"),
  });
  element.set = (isOn) => setAttribute(element, "aria-checked", isOn ? "true" : "false");
  return element;
}

/** The pairs of a definition list; values are texts or elements. Rows without a value are left out. */
export function facts(rows) {
  return h("dl", { class: "facts" }, rows.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

/** Changes the values of a list of facts in place; a list with other names is made again. */
export function updateFacts(container, rows) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const list = container.querySelector("dl");
  const names = [...(list?.querySelectorAll("dt") ?? [])].map((term) => term.textContent);
  if (!list || names.length !== shown.length || shown.some(([name], index) => names[index] !== name)) {
    container.replaceChildren(facts(shown));
    return;
  }
  const values = list.querySelectorAll("dd");
  shown.forEach(([, value], index) => {
    if (typeof value === "string") setText(values[index], value);
  });
}

const politely = () => document.getElementById("announcements");

/** Tells a screen reader. */
export function announce(text) {
  const place = politely();
  if (place) place.textContent = visible(text);
}

/** Shows a message for some seconds; an error stays until it is closed. */
export function notice(text, isError = false) {
  const element = h("div", { class: isError ? "notice bad" : "notice", role: isError ? "alert" : "status" },
    h("p", { class: "grow" }, foreign(text)),
    h("button", { type: "button", class: "plain", "aria-label": "Close message", onclick: () => element.remove() },
      icon("close")));
  const place = document.getElementById("notices");
  while (place.children.length > 3) place.firstElementChild.remove();
  place.append(element);
  if (!isError) setTimeout(() => element.remove(), 6000);
}
