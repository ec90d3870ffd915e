// Time: the clock, the speed, pause and step, and in a virtual world runs.

import { choice, field, h, icon, panel, setAttribute, setText, visible } from "./dom.js";
import { clock, duration, short } from "./format.js";
import { setPaused, step } from "./transport.js";

const SLOWEST = -3;
const FASTEST = 3;

export function timeView(air) {
  const { store } = air;
  const now = h("output", { class: "big-clock", id: "big-clock", "aria-label": "Radio time", "aria-live": "off" });
  const mode = h("p", { class: "quiet" });
  const pause = h("button", {
    type: "button", class: "primary", id: "time-pause", hidden: !store.has("pause"),
    onclick: () => setPaused(air, !store.paused),
  });
  const shown = h("output", { id: "speed-value", class: "number" });
  const speed = h("input", {
    type: "range", id: "speed-slider", min: String(SLOWEST), max: String(FASTEST), step: "0.1",
    "aria-label": "Speed, radio seconds per second",
    oninput: () => setText(shown, `${short(value())} ×`), onchange: () => set(value()),
  });
  // A browser may give a slider a value before it knows the limits.
  speed.value = String(Math.log10(store.lastSpeed ?? 1));
  const value = () => Number((10 ** speed.valueAsNumber).toPrecision(2));
  const set = (speed) => {
    store.lastSpeed = speed;
    return air.request({ verb: "speed", speed });
  };
  const presets = h("div", { class: "row tight", role: "group", "aria-label": "Speeds" },
    [0.001, 0.01, 0.1, 1, 10, 100].map((one) => h("button",
      { type: "button", class: "small", "data-speed": one, "aria-pressed": "false", onclick: () => set(one) },
      `${one} ×`)));
  const speedPanel = panel("Speed", [shown], h("div", { class: "body stack" }, speed, presets,
    h("p", { class: "quiet" },
      "Radio seconds per second. At another speed than 1 the timers of hosts outside do not follow.")));
  speedPanel.hidden = !store.has("speed");

  const devices = (id) => choice("Device", [], { id });
  const [stepDevice, runDevice] = [devices("step-device"), devices("run-device")];
  const steps = h("button",
    { type: "button", id: "time-step", onclick: () => step(air, stepDevice.value || undefined) }, icon("step"), "Step");
  const stepPanel = panel("Step", [], h("div", { class: "body stack" },
    h("p", { class: "quiet" }, "Pause the air, then go to the next packet that a device sends or receives."),
    h("div", { class: "row end" }, field("Packet of", stepDevice), steps)));
  stepPanel.hidden = !store.has("step");

  const seconds = h("input", { type: "number", id: "run-seconds", min: "0.001", step: "any", value: "1" });
  const until = choice("Until", [["", "the time is over"], ["link", "it has a link"], ["noLink", "it has no link"]],
    { id: "run-until" });
  const run = h("button", { type: "button", class: "primary", id: "run", onclick: runFor }, icon("play"), "Run");
  const leave = h("button", { type: "button", id: "run-leave", onclick: () => air.request({ verb: "stop" }) },
    "Let the program go on");
  const result = h("output", { class: "quiet", id: "run-result" });
  const runPanel = panel("Run", [], h("div", { class: "body stack" },
    h("p", { class: "quiet" }, "A virtual world stands still until it runs, as fast as the machine allows."),
    h("div", { class: "row end" }, field("For at most, in seconds", seconds), field("Until", until),
      field("Device", runDevice), run, leave), result));
  runPanel.hidden = !store.has("run");

  async function runFor() {
    if (!(seconds.valueAsNumber > 0)) return;
    const request = { verb: "run", seconds: seconds.valueAsNumber };
    if (until.value) Object.assign(request, { until: until.value, device: runDevice.value });
    const begin = store.time;
    run.disabled = true;
    const answer = await air.request(request);
    run.disabled = false;
    if (answer) setText(result, `Ran for ${duration((answer.time ?? store.time) - begin)}.`);
  }

  const element = h("div", { class: "page time-view" },
    h("header", { class: "view-head" }, h("h1", {}, "Time")),
    h("div", { class: "panel clock-panel" }, now, mode, h("div", { class: "row" }, pause)),
    h("div", { class: "columns" }, speedPanel, stepPanel, runPanel));

  let wasPaused = null;
  function show() {
    setText(now, clock(store.time, 6));
    const speedText = store.paused ? "paused" : store.speed > 0 ? `${short(store.speed)} ×` : "";
    setText(mode, [store.hello.time === "virtual" ? "Virtual time" : "Real time",
      speedText].filter(Boolean).join(", "));
    if (wasPaused !== store.paused) {
      wasPaused = store.paused;
      pause.replaceChildren(icon(store.paused ? "play" : "pause"), store.paused ? "Continue" : "Pause");
      steps.disabled = !store.paused;
    }
    if (!(store.speed > 0) || speed.matches(":active")) return;
    if (Math.abs(value() - store.speed) > 1e-9) speed.value = String(Math.log10(store.speed));
    setText(shown, `${short(store.speed)} ×`);
    for (const button of presets.children) {
      setAttribute(button, "aria-pressed", String(Number(button.dataset.speed) === store.speed));
    }
  }
  function showDevices() {
    for (const [select, first] of [[stepDevice, "any device"], [runDevice, null]]) {
      const before = select.value;
      select.replaceChildren(...(first ? [h("option", { value: "" }, first)] : []),
        ...[...store.devices.keys()].map((name) => h("option", { value: name }, visible(name))));
      if ([...select.options].some((option) => option.value === before)) select.value = before;
    }
  }
  let shownCount = store.devices.size;
  const ends = [store.on("tick", show), store.on("devices", () => {
    if (store.devices.size === shownCount) return;
    shownCount = store.devices.size;
    showDevices();
  })];
  show();
  showDevices();
  return { element, close: () => ends.forEach((end) => end()) };
}
