// The map: the picture, the same devices as a list of real elements, and the selected device's place and switches.

import { addDialog } from "./dialogs.js";
import { announce, field, foreign, h, icon, listIn, notice, setAttribute, setText, throttled, toggle,
  visible } from "./dom.js";
import { dBm, place, plural, short } from "./format.js";
import { MapCanvas, strength } from "./map-canvas.js";
import { holdMap } from "./map-hand.js";

export const STATES = {
  off: ["Off", ""], idle: ["Idle", ""], advertising: ["Advertising", "accent"], connected: ["Connected", "good"],
};

/** A label of a device's state. */
export function stateTag(state = "idle") {
  const element = h("span", { class: "tag" });
  element.show = (name) => {
    setText(element, STATES[name]?.[0] ?? name);
    setAttribute(element, "class", `tag ${STATES[name]?.[1] ?? ""}`.trim());
  };
  element.show(state);
  return element;
}

const MOVES_PER_SECOND = 12;
/** Milliseconds for which the map shows a place that the air has accepted and does not show: the device moves on. */
const LONGEST_HOLD = 500;
/** Milliseconds between two updates of the list: people read no faster. */
const LIST_PERIOD = 200;

export function mapView(air) {
  const { store } = air;
  const canvas = h("canvas", {
    tabindex: "0", id: "map", role: "application", "aria-roledescription": "map", "aria-label": "Map of the devices",
    "aria-describedby": "map-keys",
  });
  const map = new MapCanvas(canvas, {
    devices: () => [...store.devices.values()], links: () => store.links.values(),
    interference: () => store.interference, trails: () => store.trails.values(),
    rings: (name) => store.rings(name).map(({ level, radius, isLimit }) =>
      ({ radius, name: `${isLimit ? "limit " : ""}${dBm(level)}, ${short(Number(radius.toPrecision(2)))} m` })),
  });
  map.selected = air.selected;

  const list = deviceList(air, (name) => {
    air.select(name);
    map.change();
  });
  const card = deviceCard(air, move, map.placeOf);
  const tools = mapTools(map);
  const ends = [];

  /** The places that the air has accepted, until it shows them: a message that was on its way may have an older one. */
  const answered = new Map();
  function release(name, position) {
    answered.delete(position);
    if (map.held.get(name) !== position) return;
    map.held.delete(name);
    map.change();
    card.show();
  }
  function releaseShown() {
    for (const [position, { name, until }] of answered) {
      const shown = store.devices.get(name)?.position;
      if (!shown || performance.now() > until || shown.every((value, axis) => value === position[axis])) {
        release(name, position);
      }
    }
  }

  let sent = 0;
  /** Moves a device. The map and the card show the new place at once, and the next move begins there. */
  async function move(name, x, y, isLast, z) {
    const device = store.devices.get(name);
    if (!device) return;
    const position = [round(x), round(y), round(z ?? map.placeOf(device)[2] ?? 0)];
    map.held.set(name, position);
    map.change();
    card.showPlace(position);
    if (!isLast && performance.now() - sent < 1000 / MOVES_PER_SECOND) return;
    sent = performance.now();
    const answer = await air.request({ verb: "move", device: name, position });
    if (!isLast && answer) return;
    if (answer) answered.set(position, { name, until: performance.now() + LONGEST_HOLD });
    else release(name, position);
    if (answer && isLast) announce(`${name} is at ${place(position)}${linkText(store, name)}`);
  }

  holdMap(map, {
    select: (name) => air.select(name), move, open: (name) => air.openDevice(name), canMove: () => store.has("move"),
  });

  const pulses = (tick) => {
    releaseShown();
    for (const name of Object.keys(tick?.pulses ?? {})) map.pulse(name);
    for (const packet of tick?.packets ?? []) {
      if (packet.kind === "advertising" || packet.kind === "empty") continue;
      for (const { device, outcome } of packet.receivers ?? []) map.fly(packet.sender, device, outcome !== "received");
    }
  };
  const select = () => {
    map.selected = air.selected;
    list.show();
    card.show();
    map.change();
  };
  const showList = () => {
    list.show();
    card.show();
    const count = plural(store.devices.size, "device");
    const links = plural(store.links.size, "link");
    setAttribute(canvas, "aria-label", `Map of ${count} and ${links}`);
  };
  const showListSoon = throttled(showList, LIST_PERIOD);
  const devices = () => {
    showListSoon();
    map.change();
  };
  ends.push(store.on("tick", pulses), store.on("selection", select), store.on("devices", devices));
  ends.push(store.on("world", () => {
    map.held.clear();
    answered.clear();
    map.fit();
  }));
  showList();

  const picture = h("div", { class: "map-picture" }, canvas, tools,
    h("p", { class: "visually-hidden", id: "map-keys" },
      "N and P select the next and the previous device, arrow keys move it, Shift makes small steps, ",
      "plus and minus zoom, 0 shows everything, Enter opens the device. The list of devices has the same content."),
    legend());
  const element = h("div", { class: "map-view" }, h("h1", { class: "visually-hidden" }, "Map"), picture,
    h("aside", { class: "map-side", "aria-label": "Devices" }, list.element, card.element));
  window.airMap = map;
  return {
    element,
    close() {
      for (const end of ends) end();
      map.close();
    },
  };
}

const round = (value) => Math.round(value * 1000) / 1000;

function linkText(store, name) {
  return store.linksOf(name).map((link) =>
    `; link with ${link.central === name ? link.peripheral : link.central} ${dBm(link.rssi)}`).join("");
}

function legend() {
  const entry = (kind, text) => h("li", {}, h("i", { class: `dot ${kind}`, "aria-hidden": "true" }), text);
  return h("ul", { class: "legend", "aria-label": "Legend" },
    entry("accent", "advertising"), entry("good", "connected"), entry("idle", "idle"), entry("off", "off"),
    entry("host", "host"), entry("warn", "interference"));
}

function mapTools(map) {
  const button = (name, label, act) =>
    h("button", { type: "button", class: "square", "aria-label": label, title: label, onclick: act }, icon(name));
  const zoom = (factor) => () => {
    map.camera.zoom(factor);
    map.change();
  };
  const check = (text, key) => h("label", { class: "check" },
    h("input", {
      type: "checkbox", checked: map[key], onchange: (event) => {
        map[key] = event.target.checked;
        map.change();
      },
    }), text);
  const width = h("input", {
    type: "number", class: "small", min: "0.5", max: "10000", step: "0.5", value: "20", id: "plan-width",
    onchange: () => {
      if (map.plan && width.valueAsNumber > 0) map.plan.width = width.valueAsNumber;
      map.change();
    },
  });
  const remove = h("button", { type: "button", class: "small", hidden: true, onclick: () => {
    map.plan = null;
    remove.hidden = true;
    file.value = "";
    map.change();
  } }, "Remove plan");
  const file = h("input", {
    type: "file", accept: "image/*", id: "plan-file", onchange: async () => {
      if (!file.files[0]) return;
      try {
        map.plan = { image: await createImageBitmap(file.files[0]), width: width.valueAsNumber || 20 };
        remove.hidden = false;
      } catch {
        notice("This file has no picture that the browser can show.", true);
      }
      map.change();
    },
  });
  const more = h("details", { class: "map-options" }, h("summary", {}, "Shown"),
    h("div", { class: "stack" }, check("Range rings", "showsRings"), check("Links", "showsLinks"),
      check("Advertising pulses", "showsPulses"), field("Floor plan: picture", file),
      field("Floor plan: width in metres", width), remove));
  return h("div", { class: "map-tools" },
    h("div", { class: "group", role: "group", "aria-label": "Zoom" }, button("plus", "Zoom in", zoom(1.4)),
      button("minus", "Zoom out", zoom(1 / 1.4)), button("fit", "Show everything", () => map.fit())), more);
}

function deviceList(air, choose) {
  const { store } = air;
  const search = h("input", {
    type: "search", placeholder: "Name, kind or address", "aria-label": "Find devices", id: "find",
    oninput: () => show(),
  });
  const count = h("span", { class: "quiet", id: "device-count" });
  const items = h("ul", { class: "devices", id: "devices" });
  const update = listIn(items, (device) => device.name, (device) => {
    const name = foreign(device.name, { class: "clip" });
    const tag = stateTag(device.state);
    const detail = h("small", { class: "clip" });
    const button = h("button", { type: "button", class: "plain device", onclick: () => choose(device.name) },
      h("span", { class: "row spread nowrap" }, name, tag), detail);
    const item = h("li", {}, button);
    item.update = (now) => {
      tag.show(now.state);
      setText(detail, detailOf(now));
      setAttribute(button, "aria-pressed", now.name === air.selected ? "true" : "false");
    };
    return item;
  });
  const detailOf = (device) => {
    const links = store.linksOf(device.name).map((link) => dBm(link.rssi)).join(", ");
    return visible([device.kind, place(device.position), links].filter(Boolean).join(" · "));
  };
  function show() {
    const wanted = search.value.trim().toLowerCase();
    const found = [...store.devices.values()].filter((device) =>
      !wanted || `${device.name} ${device.kind} ${device.address} ${device.state}`.toLowerCase().includes(wanted));
    setText(count, plural(found.length, "device"));
    update(found);
  }
  const add = h("button", {
    type: "button", class: "small", id: "add", hidden: !store.has("add"), onclick: () => addDialog(air),
  }, icon("plus"), "Add");
  const element = h("section", { class: "map-list", "aria-label": "List of devices" },
    h("div", { class: "row spread" }, h("h2", {}, "Devices"), h("div", { class: "row" }, count, add)), search, items);
  return { element, show };
}

/** The selected device: its place as numbers, its switches, the way to everything else. */
function deviceCard(air, move, placeOf) {
  const { store } = air;
  const name = foreign("");
  const tag = stateTag();
  const axes = ["x", "y", "z"].map((axis) => h("input", {
    type: "number", step: "0.1", class: "small", "aria-label": `${axis} in metres`, id: `place-${axis}`,
    onchange: () => place(),
  }));
  const radio = toggle("Radio", (on) => air.request({ verb: "radio", device: air.selected, on }));
  const power = toggle("Bluetooth", (on) => air.request({ verb: "power", device: air.selected, on }));
  [radio.id, power.id] = ["radio", "power"];
  const powerRow = h("div", { class: "row spread" }, h("span", {}, "Bluetooth of the device"), power);
  const radioRow = h("div", { class: "row spread" }, h("span", {}, "Radio"), radio);
  const links = h("ul", { class: "card-links" });
  const update = listIn(links, (link) => link.id, () => {
    const other = foreign("");
    const level = h("span", { class: "tag" });
    const item = h("li", { class: "row spread nowrap" }, other, level);
    item.update = (link) => {
      setText(other, visible(link.central === air.selected ? link.peripheral : link.central));
      setText(level, dBm(link.rssi));
      setAttribute(level, "class", `tag ${strength(link.rssi) === "ink-2" ? "" : strength(link.rssi)}`.trim());
    };
    return item;
  });

  function place() {
    const [x, y, z] = axes.map((input) => input.valueAsNumber);
    if ([x, y, z].every(Number.isFinite)) move(air.selected, x, y, true, z);
  }
  const nudge = (picture, label, dx, dy) => h("button", {
    type: "button", class: "square small", "aria-label": label, title: label, onclick: () => {
      const device = store.devices.get(air.selected);
      if (!device) return;
      const [x, y] = placeOf(device);
      move(device.name, x + dx, y + dy, true);
    },
  }, icon(picture));
  const places = h("fieldset", { class: "stack tight", disabled: !store.has("move") },
    h("legend", { class: "label" }, "Place in metres"),
    h("div", { class: "row tight nowrap axes" }, ["x", "y", "z"].map((axis, index) =>
      h("label", { class: "axis" }, h("span", { "aria-hidden": "true" }, axis), axes[index]))),
    h("div", { class: "row tight", role: "group", "aria-label": "Move by a metre" },
      nudge("left", "Move left by a metre", -1, 0), nudge("up", "Move up by a metre", 0, 1),
      nudge("downward", "Move down by a metre", 0, -1), nudge("right", "Move right by a metre", 1, 0)));
  const open = h("button", { type: "button", class: "primary grow", id: "open",
    onclick: () => air.openDevice(air.selected) },
    "Open device");
  const element = h("section", { class: "map-card", "aria-label": "Selected device", hidden: true },
    h("div", { class: "row spread nowrap" }, h("h2", { class: "clip" }, name), tag),
    places, radioRow, powerRow, links, h("div", { class: "row" }, open));

  function showPlace(position) {
    axes.forEach((input, index) => {
      const text = String(Number((position[index] ?? 0).toFixed(3)));
      if (document.activeElement !== input && input.value !== text) input.value = text;
    });
  }
  function show() {
    const device = store.devices.get(air.selected);
    element.hidden = !device;
    if (!device) return;
    setText(name, visible(device.name));
    tag.show(device.state);
    showPlace(placeOf(device));
    radioRow.hidden = !store.has("radio");
    radio.set(device.radio !== false);
    powerRow.hidden = !store.has("power") || device.power === undefined;
    power.set(device.power !== false);
    update(store.linksOf(device.name));
  }
  return { element, show, showPlace };
}
