// The use of the channels over time and frequency, and the air time of devices.

import { choice, deviceLink, h, listIn, panel, setText, visible } from "./dom.js";
import { percent, whole } from "./format.js";
import { SLICES, WIDTHS, byFrequency, frequency } from "./history.js";
import { channels, colours, keepSharp, onColours } from "./theme.js";

const REFRESH = 250;

/** The window of time that both panels show. */
let width = WIDTHS[0];

export function channelPanel(air) {
  const { store } = air;
  const canvas = h("canvas", { role: "img", id: "spectrum", "aria-label": "Use of the channels" });
  let size = [0, 0];
  const spans = choice("Span of time", WIDTHS.map((one) => [String(one), spanName(one * SLICES)]), {
    id: "span", class: "small", onchange: () => {
      width = Number(spans.value);
      show();
    },
  });
  spans.value = String(width);
  const rows = h("tbody");
  const table = h("div", { class: "scroll short", tabindex: "0", role: "region", "aria-label": "Channels as a table" },
    h("table", {}, h("thead", {}, h("tr", {},
      ["Channel", "MHz", "Use", "Packets", "With losses", "Collided"].map((text) =>
        h("th", { scope: "col", class: "number" }, text)))), rows));
  const update = listIn(rows, (one) => one.channel, (one) => {
    const texts = [one.channel, frequency(one.channel), "", "", "", ""];
    const cells = texts.map((text) => h("td", { class: "number" }, String(text)));
    const row = h("tr", {}, cells);
    row.update = (now) => {
      setText(cells[2], percent(now.use, 2));
      setText(cells[3], whole(now.packets));
      const part = (count) => count ? `${whole(count)} (${percent(count / now.packets)})` : "0";
      setText(cells[4], part(now.bad));
      setText(cells[5], part(now.collided));
    };
    return row;
  });
  const details = h("details", { class: "as-table", ontoggle: () => show() }, h("summary", {}, "As a table"), table);
  const element = panel("Use of the channels", [spans],
    h("div", { class: "body" },
      h("div", { class: "spectrum" }, canvas),
      h("ul", { class: "legend inline", "aria-label": "Legend" },
        h("li", {}, h("i", { class: "ramp", "aria-hidden": "true" }), "share of the time in use"),
        h("li", {}, h("i", { class: "dot bad", "aria-hidden": "true" }), "losses and CRC errors")), details));

  function show() {
    const totals = store.history.channels(width, store.time);
    draw(totals);
    if (details.open) update(byFrequency.map((channel) => totals[channel]));
  }
  function draw(totals) {
    const [w, height] = size;
    if (!w) return;
    const context = canvas.getContext("2d");
    const colour = colours();
    const side = 150 > w / 4 ? 70 : 150;
    const [left, bottom] = [44, 22];
    const plot = { x: left, y: 4, w: w - left - side - 10, h: height - bottom - 4 };
    const [low, high] = [channels(colour["plot-low"]), channels(colour["plot-high"])];
    const shade = (share) => {
      const part = share <= 0 ? 0 : Math.min(1, 0.16 + 0.84 * Math.sqrt(share * 4));
      return `rgb(${low.map((value, index) => Math.round(value + (high[index] - value) * part)).join(" ")})`;
    };
    context.clearRect(0, 0, w, height);
    context.fillStyle = colour["plot-low"];
    context.fillRect(plot.x, plot.y, plot.w, plot.h);
    const now = Math.floor(store.time / width);
    const [cellW, cellH] = [plot.w / SLICES, plot.h / 40];
    const rowOf = new Map(byFrequency.map((channel, index) => [channel, 39 - index]));
    for (const slice of store.history.slices(width)) {
      const column = SLICES - 1 - (now - slice.number);
      if (column < 0) continue;
      const x = plot.x + column * cellW;
      for (let channel = 0; channel < 40; channel += 1) {
        if (!slice.packets[channel] && !slice.airTime[channel]) continue;
        const y = plot.y + rowOf.get(channel) * cellH;
        context.fillStyle = shade(slice.airTime[channel] / (width * 1e6));
        context.fillRect(x, y, Math.max(1, cellW - 0.5), Math.max(1, cellH - 0.5));
        if (!slice.bad[channel]) continue;
        context.fillStyle = colour.bad;
        context.fillRect(x, y + cellH * 0.3, Math.max(1.5, cellW - 0.5), Math.max(1.5, cellH * 0.4));
      }
    }
    context.font = `500 11px ${getComputedStyle(canvas).fontFamily}`;
    context.fillStyle = colour["ink-2"];
    context.textAlign = "right";
    for (const channel of [37, 38, 39, 5, 16, 24, 31]) {
      context.fillText(`ch ${channel}`, left - 6, plot.y + (rowOf.get(channel) + 0.5) * cellH + 4);
    }
    context.textAlign = "left";
    context.fillText(`${spanName(SLICES * width)} ago`, plot.x, height - 6);
    context.textAlign = "right";
    context.fillText("now", plot.x + plot.w, height - 6);
    const most = Math.max(...totals.map((one) => one.use), 0.001);
    const bar = { x: plot.x + plot.w + 10, w: side };
    context.textAlign = "left";
    context.fillText(`${percent(most, 1)}${side > 100 ? " at most" : ""}`, bar.x, height - 6);
    for (const total of totals) {
      const y = plot.y + rowOf.get(total.channel) * cellH;
      context.fillStyle = total.channel >= 37 ? colour.violet : colour.accent;
      const length = (total.use / most) * bar.w;
      context.fillRect(bar.x, y + 0.5, length, Math.max(1, cellH - 1));
      if (!total.bad) continue;
      context.fillStyle = colour.bad;
      context.fillRect(bar.x, y + 0.5, Math.max(2, length * (total.bad / Math.max(1, total.packets))),
        Math.max(1, cellH - 1));
    }
    const busiest = [...totals].sort((a, b) => b.use - a.use)[0];
    canvas.setAttribute("aria-label", `Use of the channels in the last ${spanName(SLICES * width)}: ` +
      `the busiest is channel ${busiest.channel} with ${percent(busiest.use, 1)}; the table has all of them`);
  }

  const stop = keepSharp(canvas, (w, height) => {
    size = [w, height];
    show();
  });
  const end = onColours(show);
  const timer = setInterval(show, REFRESH);
  return {
    element,
    close() {
      clearInterval(timer);
      stop();
      end();
    },
  };
}

const spanName = (seconds) => seconds >= 120 ? `${seconds / 60} min` : `${seconds} s`;

export function airTimePanel(air) {
  const { store } = air;
  const rows = h("tbody");
  const none = h("p", { class: "empty" }, "No device has sent.");
  const update = listIn(rows, ([name]) => name, ([name]) => {
    const share = h("td", { class: "number" });
    const packets = h("td", { class: "number" });
    const losses = h("td", { class: "number" });
    const bar = h("i");
    const row = h("tr", {},
      h("th", { scope: "row" }, deviceLink(store, name)),
      share, h("td", {}, h("div", { class: "meter", "aria-hidden": "true" }, bar)), packets, losses);
    row.update = ([, part], most) => {
      const counts = store.devices.get(name)?.counts ?? {};
      setText(share, percent(part, 3));
      setText(packets, whole(counts.sent ?? 0));
      setText(losses, whole((counts.crcErrors ?? 0) + (counts.missed ?? 0)));
      bar.style.width = `${Math.min(100, (part / row.most()) * 100)}%`;
    };
    row.most = () => most;
    return row;
  });
  let most = 1;
  function show() {
    const times = store.history.airTimes(width, store.time).slice(0, 100);
    most = times[0]?.[1] || 1;
    update(times);
    none.hidden = times.length > 0;
  }
  const timer = setInterval(show, 2 * REFRESH);
  show();
  const head = ["Device", "Share of the time", "Compared", "Packets sent", "Lost on reception"].map((text, index) =>
    h("th", { scope: "col", class: index && index !== 2 ? "number" : "" }, text));
  return {
    element: panel("Air time of devices", [], h("div", { class: "scroll" },
      h("table", { id: "air-time" }, h("thead", {}, h("tr", {}, head)), rows)), none),
    close: () => clearInterval(timer),
  };
}
