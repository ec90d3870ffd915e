// Faults: a slider for each effect of each device and link, the other faults of the plan, and the plan as YAML.

import { textDialog } from "./dialogs.js";
import { foreign, h, icon, listIn, panel, setText, throttled, visible } from "./dom.js";
import { EFFECTS, changed, keyOf, sliderOf } from "./fault-plan.js";
import { eventLine } from "./view-device.js";

const MOST_ROWS = 60;

export function faultsView(air) {
  const { store } = air;
  const sliders = new Map();
  let search = "";

  /** Replaces the plan. A fault of a device that has struck would strike again, so it is left out. The plan counts from
   *  now on, so that a change that follows at once keeps this one. */
  async function setFaults(faults) {
    const before = store.faults;
    const plan = faults.filter(({ layer, at }) => layer !== "device" || !(at <= store.time));
    store.expectFaults(plan);
    if (!await air.request({ verb: "faults", plan: { faults: plan } }) && store.faults === plan) {
      store.expectFaults(before);
    }
  }

  const mute = (device, seconds) => air.request({
    verb: "fault", plan: { faults: [{ layer: "device", fault: "mute", device, at: store.time, for: seconds }] },
  });

  /** A slider and its value; the air gets the value when the hand lets go. */
  function slider(effect, label, from, to) {
    const key = keyOf(effect.name, from, to);
    const shown = h("output", { class: "number" });
    const write = (value) => setText(shown, value ? `${value} ${effect.unit}` : "–");
    const input = h("input", {
      type: "range", min: "0", max: String(effect.most), step: String(effect.step), "data-fault": key,
      "aria-label": `${effect.title} ${label}, ${effect.unit === "%" ? "percent" : "milliseconds"}`,
      oninput: () => write(input.valueAsNumber),
      onchange: () => setFaults(changed(store.faults, key, input.valueAsNumber)),
    });
    input.value = "0";
    write(0);
    sliders.set(key, (value) => {
      if (document.activeElement === input && input.matches(":active")) return;
      if (input.valueAsNumber !== value) input.value = String(value);
      write(value);
    });
    return h("span", { class: "slider" }, input, shown);
  }

  const deviceRows = h("tbody");
  const updateDevices = listIn(deviceRows, (device) => device.name, ({ name }) => h("tr", {},
    h("th", { scope: "row" }, foreign(name)),
    EFFECTS.map((effect) => h("td", { "data-title": effect.title }, slider(effect, `of ${visible(name)}`, name))),
    h("td", { "data-title": "Silence" }, h("button", {
      type: "button", class: "small", "aria-label": `Mute ${visible(name)} for 5 seconds`,
      onclick: () => mute(name, 5),
    }, "Mute 5 s"))));
  const linkRows = h("tbody");
  const updateLinks = listIn(linkRows, (way) => way.key, ({ from, to }) => h("tr", {},
    h("th", { scope: "row" }, foreign(from), " → ", foreign(to)),
    EFFECTS.filter((effect) => !effect.isDevice).map((effect) =>
      h("td", { "data-title": effect.title }, slider(effect, `from ${visible(from)} to ${visible(to)}`, from, to)))));
  const others = h("ul", { class: "other-faults" });
  const updateOthers = listIn(others, (one) => one.key, ({ fault }) => h("li", { class: "row spread nowrap" },
    h("code", {}, foreign(JSON.stringify(fault))),
    h("button", {
      type: "button", class: "small square", "aria-label": `Remove the fault ${visible(fault.fault ?? "")}`,
      onclick: () => setFaults(store.faults.filter((one) => JSON.stringify(one) !== JSON.stringify(fault))),
    }, icon("bin"))));
  const strikes = h("ol", { class: "log" });
  const updateStrikes = listIn(strikes, (event) => event.key, (event) =>
    eventLine(event, [foreign(event.devices.join(", ")), " "]));

  const noLinks = h("p", { class: "empty" }, "No link between devices of the air.");
  const noOthers = h("p", { class: "empty" }, "None.");
  const noStrikes = h("p", { class: "empty" }, "No fault has struck since the page is open.");
  const find = h("input", {
    type: "search", id: "fault-find", class: "small", "aria-label": "Find devices", placeholder: "Find devices",
    oninput: () => {
      search = find.value.trim().toLowerCase();
      show();
    },
  });
  const summary = h("span", { class: "quiet", id: "fault-count" });
  const head = (first, titles) =>
    h("thead", {}, h("tr", {}, [first, ...titles].map((title) => h("th", { scope: "col" }, title))));
  const element = h("div", { class: "page faults-view" },
    h("header", { class: "view-head" }, h("h1", {}, "Faults"), summary, h("span", { class: "row" },
      h("button", { type: "button", id: "faults-yaml", onclick: showPlan }, icon("copy"), "Copy as YAML"),
      h("button", { type: "button", class: "danger", id: "faults-clear", onclick: clear }, icon("bin"), "Remove all"))),
    panel("Devices", [find], h("div", { class: "scroll" }, h("table", { class: "sliders", id: "fault-devices" },
      head("Packets from", [...EFFECTS.map((effect) => effect.title), "Silence"]), deviceRows))),
    panel("Links", [], h("div", { class: "scroll" }, h("table", { class: "sliders", id: "fault-links" },
      head("Direction", EFFECTS.filter((effect) => !effect.isDevice).map((effect) => effect.title)), linkRows)),
    noLinks),
    h("div", { class: "columns" }, panel("Other faults of the plan", [], others, noOthers),
      panel("Faults that struck", [], strikes, noStrikes)));

  async function showPlan() {
    const answer = await air.request({ verb: "faults" });
    if (answer) textDialog("Fault plan", answer.text ?? "", "faults.yaml");
  }
  async function clear() {
    if (await air.request({ verb: "fault" })) air.announce("All faults are removed");
  }
  function show() {
    const found = [...store.devices.values()].filter((device) => !search || device.name.toLowerCase().includes(search));
    updateDevices(found.slice(0, MOST_ROWS));
    const isHere = (link) => store.devices.has(link.central) && store.devices.has(link.peripheral);
    const ways = [...store.links.values()].filter(isHere)
      .flatMap((link) => [[link.central, link.peripheral], [link.peripheral, link.central]])
      .map(([from, to]) => ({ key: keyOf("", from, to), from, to }));
    updateLinks([...new Map(ways.map((way) => [way.key, way])).values()].slice(0, MOST_ROWS));
    noLinks.hidden = ways.length > 0;
    showFaults();
  }
  function showFaults() {
    const values = new Map();
    const rest = [];
    for (const fault of store.faults) {
      const one = sliderOf(fault);
      if (one && sliders.has(one.key)) values.set(one.key, one.value);
      else rest.push({ key: JSON.stringify(fault), fault });
    }
    for (const [key, set] of sliders) set(values.get(key) ?? 0);
    updateOthers([...new Map(rest.map((one) => [one.key, one])).values()]);
    noOthers.hidden = rest.length > 0;
    setText(summary, store.faults.length ? `${store.faults.length} in the plan` : "none in the plan");
  }
  let count = 0;
  function showStrikes() {
    const events = store.events.filter((event) => event.kind === "fault").slice(-40).reverse();
    for (const event of events) event.strikeKey ??= count += 1;
    updateStrikes(events.map((event) => Object.assign(event, { key: event.key ?? `strike-${event.strikeKey}` })));
    noStrikes.hidden = events.length > 0;
  }
  const ends = [store.on("devices", throttled(show, 250)), store.on("faults", showFaults),
    store.on("events", throttled(showStrikes, 250))];
  show();
  showStrikes();
  return { element, close: () => ends.forEach((end) => end()) };
}
