// The GATT tree of a device, read over the air by the central of this page.

import { field, foreign, h, listIn, notice, panel, setAttribute, setText, visible } from "./dom.js";
import { ascii, clock, octets } from "./format.js";

export function gattPanel(air, name) {
  const { store } = air;
  const open = h("button", { type: "button", class: "primary small", id: "gatt-open", onclick: () => connect() },
    "Connect and discover");
  const close = h("button", { type: "button", class: "small", id: "gatt-close", hidden: true, onclick: disconnect },
    "Disconnect");
  const body = h("div", { class: "gatt" });
  const hint = h("p", { class: "empty" },
    "The page has its own central. It connects over the air, so distance, interference and faults apply to it, too.");
  const rows = new Map();

  async function connect() {
    open.disabled = true;
    setText(open, "Connecting …");
    const answer = await air.request({ verb: "open", device: name });
    open.disabled = false;
    setText(open, "Connect and discover");
    if (!answer?.gatt) return;
    rows.clear();
    body.replaceChildren(...answer.gatt.services.map(serviceElement));
    [open.hidden, close.hidden, hint.hidden] = [true, false, true];
    air.announce(`Connected: ${answer.gatt.services.length} services`);
  }
  async function disconnect() {
    if (await air.request({ verb: "close", device: name })) gone();
  }
  function gone() {
    rows.clear();
    body.replaceChildren();
    [open.hidden, close.hidden, hint.hidden] = [false, true, false];
  }

  const serviceElement = (service) => h("details", { open: true, class: "service" },
    h("summary", {}, h("span", { class: "service-name" }, foreign(service.name ?? "Service")),
      h("code", {}, visible(service.uuid))),
    h("ul", {}, (service.characteristics ?? []).map((one) => characteristicElement(one))));

  function characteristicElement(characteristic) {
    const { handle, properties = [] } = characteristic;
    const label = characteristic.name ?? characteristic.uuid;
    const value = h("output", { class: "value", "aria-label": `Value of ${visible(label)}` });
    const has = (...names) => names.some((one) => properties.includes(one));
    const act = (text, act, pressed) => {
      const button = h("button",
        { type: "button", class: "small", "aria-label": `${text} ${visible(label)}`, onclick: act }, text);
      if (pressed !== undefined) setAttribute(button, "aria-pressed", String(pressed));
      return button;
    };
    const show = ({ value: hex, text, time }) => {
      if (hex === undefined) return;
      value.replaceChildren(
        ...(text ? [foreign(text, { class: "decoded" })] : []),
        h("code", {}, octets(hex) || "empty"), ...(text ? [] : [h("small", {}, `“${ascii(hex)}”`)]),
        ...(time === undefined ? [] : [h("small", {}, clock(time))]));
    };
    const buttons = [];
    if (has("read")) {
      buttons.push(act("Read", async () => {
        const answer = await air.request({ verb: "read", device: name, handle });
        if (answer) show({ ...answer, time: store.time });
      }));
    }
    if (has("notify", "indicate")) {
      const button = act("Subscribe", async () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        const answer = await air.request({ verb: "subscribe", device: name, handle, on });
        if (answer) setAttribute(button, "aria-pressed", String(on));
      }, characteristic.subscribed ?? false);
      buttons.push(button);
    }
    const item = h("li", { class: "characteristic", "data-handle": handle },
      h("div", { class: "row spread" },
        h("span", { class: "grow" }, foreign(label), " ", h("small", {}, properties.map(visible).join(", "))),
        h("span", { class: "row tight" }, buttons)),
      value);
    if (has("write", "writeWithoutResponse")) item.append(writer(handle, label, has("write")));
    for (const descriptor of characteristic.descriptors ?? []) {
      item.append(h("small", { class: "descriptor" }, foreign(descriptor.name ?? descriptor.uuid),
        ` 0x${descriptor.handle.toString(16).padStart(4, "0")}`));
    }
    show(characteristic);
    rows.set(handle, show);
    return item;
  }

  function writer(handle, label, response) {
    const input = h("input", {
      type: "text", class: "small grow", placeholder: "01 0A, or \u201Ctext\u201D in quotes", spellcheck: "false",
      "aria-label": `New value of ${visible(label)}, hexadecimal or text in quotes`,
    });
    return h("form", {
      class: "row tight nowrap write", onsubmit: async (event) => {
        event.preventDefault();
        const typed = input.value;
        const value = parse(typed);
        if (value === null) notice("Expected hexadecimal octets, or a text in quotes.", true);
        else if (await air.request({ verb: "write", device: name, handle, value, response })) {
          air.announce("Written");
          if (input.value === typed) input.value = "";
        }
      },
    }, input, h("button", { type: "submit", class: "small", "aria-label": `Write ${visible(label)}` }, "Write"));
  }

  /** The tree goes with the link of the page's central. */
  const isLinked = () => store.linksOf(name).some((link) => store.devices.get(link.central)?.role === "page");
  let wasLinked = false;
  const endOfLinks = store.on("devices", () => {
    if (wasLinked && !isLinked() && !close.hidden) {
      gone();
      notice(`The link to ${name} has ended.`);
    }
    wasLinked = isLinked();
  });
  const endOfValues = store.on("values", () => {
    for (const [handle, show] of rows) {
      const value = store.values.get(`${name}/${handle}`);
      if (value && show.last !== value) {
        show.last = value;
        show(value);
      }
    }
  });
  const element = panel("GATT", [open, close], hint, body);
  element.id = "gatt";
  return {
    element,
    close() {
      endOfLinks();
      endOfValues();
    },
  };
}

/** Octets in hexadecimal of what a user types: `01 0a`, `0x010A`, or a text in quotes. Null if it is neither. */
export function parse(text) {
  const trimmed = text.trim();
  const quoted = trimmed.match(/^["\u201C](.*)["\u201D]$/su);
  const pair = (octet) => octet.toString(16).padStart(2, "0");
  if (quoted) return [...new TextEncoder().encode(quoted[1])].map(pair).join("");
  const hex = trimmed.replace(/^0x/i, "").replace(/[\s:-]/g, "").toLowerCase();
  return /^([0-9a-f]{2})*$/.test(hex) ? hex : null;
}
