// The details of a packet: who received it, its fields as a tree, and its octets. A field marks its octets.

import { facts, foreign, h, setText, visible } from "./dom.js";
import { clock, dBm, duration } from "./format.js";

export function detailPanel(air) {
  const title = h("h2", { id: "detail-title" }, "Packet");
  const body = h("div", { class: "body stack" },
    h("p", { class: "quiet" }, "Choose a packet to see its fields and octets."));
  const element = h("aside",
    { class: "panel packet-detail is-empty", id: "detail", "aria-labelledby": "detail-title", tabindex: "-1" },
    h("header", {}, title), body);
  let wanted = null;

  async function show(packet) {
    wanted = packet.number;
    element.classList.remove("is-empty");
    title.replaceChildren(foreign(packet.name), " ", h("small", { class: "quiet" }, `#${packet.number}`));
    body.replaceChildren(summary(packet));
    if (!air.store.has("packet")) return;
    const answer = await air.send({ ask: "packet", number: packet.number });
    if (!answer?.packet || wanted !== packet.number) return;
    const dump = octetDump(answer.packet.octets ?? "");
    body.append(h("h3", {}, "Fields"), fieldTree(answer.packet.fields ?? [], dump.mark),
      h("h3", {}, `Octets (${(answer.packet.octets ?? "").length / 2})`), dump.element);
  }
  return { element, show };
}

const OUTCOMES = { received: "received", corrupt: "CRC error", missed: "not detected" };

function summary(packet) {
  return facts([
    ["Time", clock(packet.time, 6)],
    ["Duration", duration(packet.airTime * 1e-6)],
    ["Channel", `${packet.channel} (${packet.frequency} MHz), ${visible(packet.phy ?? "")}`],
    ["From", packet.sender ? foreign(packet.sender) : "injected by a fault"],
    ["Power", Number.isFinite(packet.power) ? dBm(packet.power) : null],
    ["To", packet.receivers?.length ? h("ul", {}, packet.receivers.map((one) => h("li", {},
      foreign(one.device), `: ${OUTCOMES[one.outcome] ?? visible(one.outcome)}`,
      Number.isFinite(one.level) ? `, ${dBm(one.level)}` : "")))
      : "nobody listened"],
    ["Content", packet.summary ? foreign(packet.summary) : null],
    ["Link", packet.link ? visible(packet.link) : null],
    ["On the air", [packet.encrypted && "encrypted", packet.retransmission && "retransmission",
      packet.collided && "another packet was on the channel at the same time"].filter(Boolean).join(", ")],
  ]);
}

function fieldTree(fields, mark) {
  return h("ul", { class: "fields" }, fields.map((one) => {
    const label = [h("span", { class: "field-name" }, foreign(one.name)), " ", h("code", {}, foreign(one.value ?? ""))];
    const markIt = () => mark(one.from, one.to);
    const marks = { onclick: markIt, onmouseenter: markIt, onfocus: markIt };
    if (!one.fields?.length) {
      return h("li", {}, h("button", { type: "button", class: "plain field-row", ...marks }, label));
    }
    return h("li", {}, h("details", { open: true },
      h("summary", marks, label), fieldTree(one.fields, mark)));
  }));
}

/** Octets in rows of eight, of which a range can be marked. */
function octetDump(hex) {
  const cells = (hex.match(/../g) ?? []).map((pair) => h("span", {}, pair.toUpperCase()));
  const lines = [];
  for (let index = 0; index < cells.length; index += 8) {
    lines.push(h("div", {}, h("span", { class: "offset" }, index.toString(16).padStart(4, "0").toUpperCase()),
      cells.slice(index, index + 8)));
  }
  const element = h("div", { class: "dump octets", role: "group", "aria-label": "Octets in hexadecimal" }, lines);
  return {
    element,
    mark(from, to) {
      cells.forEach((cell, index) => cell.classList.toggle("marked", index >= from && index < to));
    },
  };
}
