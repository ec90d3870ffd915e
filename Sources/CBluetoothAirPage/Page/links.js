// The links of a device: parameters, levels in both directions, throughput, losses, and the level's recent past.

import { foreign, h, listIn, panel, setText, updateFacts, visible } from "./dom.js";
import { bitRate, clock, dBm, duration, whole } from "./format.js";
import { strength } from "./map-canvas.js";
import { colours, keepSharp, onColours } from "./theme.js";

/** The number of ended links that a device shows. */
const ENDED = 3;

export function linkPanel(air, nameOf) {
  const { store } = air;
  const list = h("ul", { class: "links" });
  const none = h("p", { class: "empty" }, "No link.");
  const show = listIn(list, (link) => link.isEnded ? `${link.id}/${link.time}` : link.id, () => {
    const other = h("button", { type: "button", class: "small" });
    const level = h("span", { class: "tag" });
    const plot = levelPlot();
    const rows = h("div", {});
    const end = h("p", { class: "why" });
    const item = h("li", { class: "link" },
      h("div", { class: "row spread" }, h("h3", { class: "row tight" }, h("span", { class: "quiet" }, "with"), other),
        level),
      end, plot.element, rows);
    item.update = (link) => {
      const peer = link.central === nameOf() ? link.peripheral : link.central;
      if (other.peer !== peer) {
        other.peer = peer;
        other.replaceChildren(foreign(peer));
        other.onclick = () => store.devices.has(peer) && air.openDevice(peer);
      }
      const tint = link.isEnded || strength(link.rssi) === "ink-2" ? "" : strength(link.rssi);
      setText(level, link.isEnded ? `ended at ${clock(link.time)}` : dBm(link.rssi));
      level.className = `tag ${tint}`;
      end.hidden = !link.isEnded;
      setText(end, link.isEnded ? visible([link.reason, link.past].filter(Boolean).join(". ")) : "");
      item.classList.toggle("is-ended", link.isEnded === true);
      plot.show(store.history.link(link.id), store.limitOf(link));
      updateFacts(rows, linkRows(link, nameOf()));
    };
    item.remove = () => {
      plot.close();
      Element.prototype.remove.call(item);
    };
    return item;
  });
  return {
    element: panel("Links", [], list, none),
    show() {
      const isMine = (link) => link.central === nameOf() || link.peripheral === nameOf();
      const links = [...store.linksOf(nameOf()), ...store.ended.filter(isMine).slice(-ENDED).reverse()];
      show(links);
      none.hidden = links.length > 0;
    },
  };
}

function linkRows(link, name) {
  return [
    ["Role", link.central === name ? "central" : "peripheral"],
    ["Level at the central", dBm(link.rssiAtCentral)],
    ["Level at the peripheral", dBm(link.rssiAtPeripheral)],
    ["Interval", Number.isFinite(link.interval) ? duration(link.interval / 1000) : ""],
    ["Latency", Number.isFinite(link.latency) ? whole(link.latency) : ""],
    ["Supervision timeout", Number.isFinite(link.timeout) ? duration(link.timeout / 1000) : ""],
    ["PHY to the peripheral", visible(link.phyToPeripheral ?? "")],
    ["PHY to the central", visible(link.phyToCentral ?? "")],
    ["ATT_MTU", Number.isFinite(link.mtu) ? whole(link.mtu) : ""],
    ["Encryption", link.encrypted === undefined ? "" : link.encrypted ? "encrypted" : "none"],
    ["To the peripheral", bitRate(link.bitsToPeripheral)],
    ["To the central", bitRate(link.bitsToCentral)],
    ["Retransmissions", whole(link.retransmissions ?? 0)],
    ["CRC errors", whole(link.crcErrors ?? 0)],
    ["Missed events", Number.isFinite(link.missedEvents) ? whole(link.missedEvents) : ""],
    ["Timeouts", Number.isFinite(link.timeouts) ? whole(link.timeouts) : ""],
  ];
}

/** A plot of the level of a link over its latest samples, with the weakest level that is received. */
function levelPlot() {
  const canvas = h("canvas", { role: "img", "aria-label": "Level of the link" });
  const element = h("figure", { class: "level-plot" }, canvas);
  let [samples, limit, width, height] = [[], -90, 0, 0];
  const stop = keepSharp(canvas, (w, h2) => {
    [width, height] = [w, h2];
    draw();
  });
  const end = onColours(draw);
  function draw() {
    if (!width) return;
    const context = canvas.getContext("2d");
    const colour = colours();
    context.clearRect(0, 0, width, height);
    const known = samples.filter((sample) => Number.isFinite(sample.rssi));
    const top = Math.max(-30, ...known.map((sample) => sample.rssi)) + 3;
    const bottom = Math.min(limit, ...known.map((sample) => sample.rssi)) - 6;
    const y = (level) => ((top - level) / (top - bottom)) * height;
    context.fillStyle = colour.bad;
    context.globalAlpha = 0.09;
    context.fillRect(0, y(limit), width, height);
    context.globalAlpha = 1;
    context.strokeStyle = colour.bad;
    context.setLineDash([4, 4]);
    context.beginPath();
    context.moveTo(0, y(limit));
    context.lineTo(width, y(limit));
    context.stroke();
    context.setLineDash([]);
    context.font = `500 11px ${getComputedStyle(canvas).fontFamily}`;
    context.fillStyle = colour.bad;
    context.fillText(`limit ${dBm(limit)}`, 6, y(limit) - 4);
    if (known.length < 2) return;
    const [first, last] = [known[0].time, known.at(-1).time];
    const x = (time) => ((time - first) / Math.max(last - first, 10)) * (width - 8) + 4;
    context.strokeStyle = colour.accent;
    context.lineWidth = 2;
    context.lineJoin = "round";
    context.beginPath();
    for (const sample of known) context.lineTo(x(sample.time), y(sample.rssi));
    context.stroke();
    context.lineWidth = 1;
    const now = known.at(-1);
    canvas.setAttribute("aria-label",
      `Level of the link: ${dBm(known[0].rssi)} before ${duration(last - first)}, now ${dBm(now.rssi)}, ` +
      `limit ${dBm(limit)}`);
  }
  return {
    element,
    show(now, weakest) {
      [samples, limit] = [now, weakest];
      draw();
    },
    close() {
      stop();
      end();
    },
  };
}
