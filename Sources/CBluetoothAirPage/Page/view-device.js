// One device: state, switches, advertising data, links, energy, and its GATT tree.

import { textDialog } from "./dialogs.js";
import { foreign, h, icon, listIn, panel, setText, throttled, toggle, updateFacts, visible } from "./dom.js";
import { advertisingRows } from "./advertising.js";
import { clock, current, dBm, duration, percent, place, plural, short, whole } from "./format.js";
import { gattPanel } from "./gatt.js";
import { linkPanel } from "./links.js";
import { stateTag } from "./view-map.js";

/** Milliseconds between two updates. */
const PERIOD = 150;

/** A line of the list of what has happened. */
export function eventLine(event, names) {
  const text = h("span");
  const line = h("li", { class: event.kind }, h("time", {}, clock(event.time)), h("span", {}, names, text));
  line.update = (now) => setText(text, visible(now.text));
  return line;
}

export function deviceView(air, argument) {
  const { store } = air;
  let name = argument ?? air.selected ?? store.devices.keys().next().value ?? null;
  const ends = [];
  const element = h("div", { class: "page device-view" });
  const chooser = h("select",
    { id: "device-choice", "aria-label": "Device", onchange: () => air.openDevice(chooser.value) });
  const tag = stateTag();
  const radio = toggle("Radio", (on) => air.request({ verb: "radio", device: name, on }));
  const power = toggle("Bluetooth", (on) => air.request({ verb: "power", device: name, on }));
  [radio.id, power.id] = ["device-radio", "device-power"];
  const radioLabel = h("span", { class: "row tight", hidden: !store.has("radio") }, h("span", {}, "Radio"), radio);
  const powerLabel = h("span", { class: "row tight" }, h("span", {}, "Bluetooth"), power);
  const remove = h("button", {
    type: "button", class: "danger", id: "remove", hidden: !store.has("remove"), onclick: removeDevice,
  }, icon("bin"), "Remove");
  const saving = h("button", { type: "button", id: "save", hidden: !store.has("save"), onclick: saveWorld },
    icon("down"), "Save world");
  const title = h("h1", { class: "clip" });
  const head = h("header", { class: "view-head" },
    title, tag, h("span", { class: "row grow" }, powerLabel, radioLabel),
    h("span", { class: "row" }, chooser, saving, remove));
  const state = h("div", { class: "body" });
  const advertising = h("div", { class: "body" });
  const energy = h("div", { class: "body" });
  const energyPanel = panel("Battery and current", [], energy);
  const log = h("ol", { class: "log" });
  const links = linkPanel(air, () => name);
  let gatt = null;
  const left = h("div", { class: "stack" });
  const right = h("div", { class: "stack" });

  async function removeDevice() {
    const device = name;
    if (!confirm(`Remove ${visible(device)} from the air?`)) return;
    if (await air.request({ verb: "remove", device }) && name === device && element.isConnected) location.hash = "#map";
  }
  async function saveWorld() {
    const answer = await air.request({ verb: "save" });
    if (answer) textDialog("World file", answer.text ?? "", "world.yaml");
  }

  function build() {
    gatt?.close();
    gatt = store.has("gatt") ? gattPanel(air, name) : null;
    left.replaceChildren(panel("State", [], state), panel("Advertising", [], advertising), energyPanel);
    right.replaceChildren(links.element, ...(gatt ? [gatt.element] : []), panel("What happened", [], log));
    state.replaceChildren();
    advertising.replaceChildren();
    shownAdvertising = null;
    showAll();
  }

  let shownAdvertising = null;
  function show() {
    const device = store.devices.get(name);
    showChoices();
    setText(title, device ? "" : "No such device");
    if (!device) return;
    title.replaceChildren(foreign(name));
    tag.show(device.state);
    radio.set(device.radio !== false);
    powerLabel.hidden = !store.has("power") || device.power === undefined;
    power.set(device.power !== false);
    remove.disabled = device.role !== "accessory";
    updateFacts(state, stateRows(device));
    const advertisement = JSON.stringify(device.advertising ?? null,
      (key, value) => key === "time" ? undefined : value);
    if (advertisement !== shownAdvertising) {
      shownAdvertising = advertisement;
      advertising.replaceChildren(advertisingRows(device.advertising));
    }
    energyPanel.hidden = !device.energy;
    if (device.energy) updateFacts(energy, energyRows(device));
    links.show();
  }
  function showChoices() {
    const names = [...store.devices.keys()];
    if (names.length !== chooser.options.length || names.some((one, index) => chooser.options[index].value !== one)) {
      chooser.replaceChildren(...names.map((one) => h("option", { value: one }, visible(one))));
    }
    if (document.activeElement !== chooser) chooser.value = name;
  }
  const showEvents = listIn(log, (event) => event.key, (event) => eventLine(event, otherEnd(event.devices, name)));
  function showLog() {
    const mine = store.events.filter((event) => event.devices.includes(name)).slice(-40).reverse();
    for (const event of mine) event.key ??= `${event.time}-${(showLog.count = (showLog.count ?? 0) + 1)}`;
    showEvents(mine);
    log.classList.toggle("is-empty", !mine.length);
  }
  const showAll = () => {
    show();
    showLog();
  };

  element.append(head, h("div", { class: "columns" }, left, right));
  ends.push(store.on("devices", throttled(show, PERIOD)), store.on("events", throttled(showLog, PERIOD)));
  build();
  return {
    element,
    show(next) {
      if (next && next !== name) {
        name = next;
        build();
      }
      return true;
    },
    close() {
      for (const end of ends) end();
      gatt?.close();
    },
  };
}

/** The other device of an event with two, in front of its text. */
function otherEnd(devices, name) {
  const others = devices.filter((one) => one !== name);
  return others.length ? [foreign(others.join(", ")), ": "] : "";
}

const ROLES = {
  accessory: "accessory of the lab", device: "device with apps", host: "controller of a host",
  page: "central of this page",
};

function stateRows(device) {
  const counts = device.counts ?? {};
  const heard = (counts.received ?? 0) + (counts.crcErrors ?? 0) + (counts.missed ?? 0);
  const share = (count) => heard && count ? ` (${percent(count / heard, 1)})` : "";
  return [
    ["Kind", visible(device.kind ?? "")],
    ["Role", ROLES[device.role] ?? visible(device.role ?? "")],
    ["Host", device.joined === undefined ? "" : device.joined ? "joined" : "none has joined"],
    ["Address", visible([device.address, device.addressKind && `(${device.addressKind})`].filter(Boolean).join(" "))],
    ["Place", place(device.position)],
    ["Transmit power", Number.isFinite(device.transmitPower) ? dBm(device.transmitPower) : ""],
    ["Sensitivity", Number.isFinite(device.sensitivity) ? dBm(device.sensitivity) : ""],
    ["Packets sent", device.counts ? whole(counts.sent ?? 0) : ""],
    ["Packets received", device.counts ? whole(counts.received ?? 0) : ""],
    ["CRC errors", device.counts ? `${whole(counts.crcErrors ?? 0)}${share(counts.crcErrors)}` : ""],
    ["Not detected", Number.isFinite(counts.missed) ? whole(counts.missed) : ""],
    ["Failed attempts to connect", counts.attemptsFailed ? whole(counts.attemptsFailed) : ""],
    ["Transmitting", Number.isFinite(counts.transmitting) ? duration(counts.transmitting) : ""],
    ["Receiving", Number.isFinite(counts.receiving) ? duration(counts.receiving) : ""],
  ];
}

function energyRows(device) {
  const { averageMilliamperes, batteryDays, warning } = device.energy;
  const days = batteryDays > 730 ? `${short(batteryDays / 365)} years` : plural(Math.round(batteryDays), "day");
  return [
    ["Average current", Number.isFinite(averageMilliamperes) ? current(averageMilliamperes / 1000) : ""],
    ["Battery lasts", Number.isFinite(batteryDays) ? days : ""],
    ["Note", warning ? visible(warning) : ""],
  ];
}
