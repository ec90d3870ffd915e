// The air: packets, the use of channels, the air time of devices, and what has happened.

import { airTimePanel, channelPanel } from "./channels.js";
import { deviceLink, h, listIn, setAttribute, throttled } from "./dom.js";
import { packetPanel } from "./packets.js";
import { eventLine } from "./view-device.js";

const TABS = [["packets", "Packets"], ["channels", "Channels"], ["log", "What happened"]];

export function airView(air, argument) {
  const body = h("div", { class: "tab-body", role: "tabpanel", id: "air-panel", tabindex: "-1" });
  const tabs = TABS.map(([name, title]) => h("button", {
    type: "button", role: "tab", class: "tab", id: `tab-${name}`, "aria-controls": "air-panel", "data-tab": name,
    onclick: () => choose(name), onkeydown: keys,
  }, title));
  let [shown, content] = [null, null];

  function choose(name) {
    if (shown === name) return;
    content?.close();
    shown = name;
    content = { packets: packetPanel, channels: channelsTab, log: logTab }[name](air);
    body.replaceChildren(content.element);
    for (const tab of tabs) {
      const isChosen = tab.dataset.tab === name;
      setAttribute(tab, "aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    setAttribute(body, "aria-labelledby", `tab-${name}`);
  }
  function keys(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(event.currentTarget) + step + tabs.length) % tabs.length];
    choose(next.dataset.tab);
    next.focus();
  }
  const element = h("div", { class: "page air-view" },
    h("header", { class: "view-head" }, h("h1", {}, "Air"),
      h("div", { role: "tablist", class: "tabs", "aria-label": "The air" }, tabs)),
    body);
  choose(TABS.some(([name]) => name === argument) ? argument : "packets");
  return {
    element,
    show(name) {
      if (TABS.some(([one]) => one === name)) choose(name);
      return true;
    },
    close: () => content?.close(),
  };
}

function channelsTab(air) {
  const parts = [channelPanel(air), airTimePanel(air)];
  return {
    element: h("div", { class: "stack" }, parts.map((part) => part.element)),
    close: () => parts.forEach((part) => part.close()),
  };
}

function logTab(air) {
  const { store } = air;
  const list = h("ol", { class: "log wide", id: "log" });
  const none = h("p", { class: "empty" },
    "Nothing has happened since the page is open: no link began or ended, no fault struck.");
  let count = 0;
  const namesOf = (event) => [event.devices.map((name, index) => [index ? " – " : "", deviceLink(store, name)]), " "];
  const update = listIn(list, (event) => event.key, (event) => eventLine(event, namesOf(event)));
  function show() {
    const events = store.events.slice(-200).reverse();
    for (const event of events) event.number ??= count += 1;
    for (const event of events) event.key = `${event.time}/${event.number}`;
    update(events);
    none.hidden = events.length > 0;
  }
  const end = store.on("events", throttled(show, 200));
  show();
  return { element: h("section", { class: "panel", "aria-labelledby": "tab-log" }, list, none), close: end };
}
