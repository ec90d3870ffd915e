// The time of the air in the page's head: clock, pause, step and speed.

import { choice, h, icon, setAttribute, setText } from "./dom.js";
import { clock } from "./format.js";

export const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 60];

/** Pauses or goes on. */
export async function setPaused(air, isPaused) {
  const { store } = air;
  if (!isPaused) await air.request({ verb: "speed", speed: store.lastSpeed ?? 1 });
  else {
    store.lastSpeed = store.speed > 0 ? store.speed : store.lastSpeed ?? 1;
    await air.request({ verb: "speed", speed: 0 });
  }
}

/** Goes to the next packet, of one device if there is a name. */
export async function step(air, device) {
  const answer = await air.request(device ? { verb: "step", device } : { verb: "step" });
  if (answer && Number.isFinite(answer.time)) {
    air.store.time = answer.time;
    air.store.emit("tick", null);
    air.announce(`Stepped to ${clock(answer.time, 6)}`);
  }
}

/** A list of speeds; another speed of the air becomes one more option. */
export function speedChoice(air) {
  const select = choice("Speed", SPEEDS.map((speed) => [String(speed), `${speed} ×`]), {
    onchange: () => {
      air.store.lastSpeed = Number(select.value);
      air.request({ verb: "speed", speed: Number(select.value) });
    },
  });
  select.value = "1";
  select.show = (speed) => {
    if (!(speed > 0)) return;
    const value = String(speed);
    if (![...select.options].some((option) => option.value === value)) {
      select.append(h("option", { value }, `${value} ×`));
    }
    if (document.activeElement !== select && select.value !== value) select.value = value;
  };
  return select;
}

export function startTransport(container, air) {
  const { store } = air;
  const time = h("output", { class: "clock", id: "clock", "aria-label": "Radio time", "aria-live": "off" }, "–");
  const pause = h("button",
    { type: "button", class: "square", id: "pause", onclick: () => setPaused(air, !store.paused) });
  const forward = h("button", {
    type: "button", class: "square", id: "step", "aria-label": "Step to the next packet",
    title: "Step to the next packet", onclick: () => step(air),
  }, icon("step"));
  const speed = speedChoice(air);
  speed.id = "speed";
  container.append(time, pause, forward, speed);

  let wasPaused = null;
  const show = () => {
    setText(time, clock(store.time));
    if (wasPaused === store.paused) return speed.show(store.speed);
    wasPaused = store.paused;
    pause.replaceChildren(icon(store.paused ? "play" : "pause"));
    setAttribute(pause, "aria-label", store.paused ? "Continue" : "Pause");
    pause.title = store.paused ? "Continue" : "Pause";
    forward.disabled = !store.paused;
    return speed.show(store.speed);
  };
  store.on("tick", show);
  store.on("world", () => {
    time.hidden = !store.has("links");
    pause.hidden = !store.has("pause");
    forward.hidden = !store.has("step");
    speed.hidden = !store.has("speed");
    wasPaused = null;
    show();
  });
}
