// The packets of the air: a table of which only the visible rows exist, filters, and the details of one packet.

import { choice, foreign, h, icon, setAttribute, setText, visible } from "./dom.js";
import { dBm, whole } from "./format.js";
import { detailPanel } from "./packet-detail.js";

const ROW = 28;
const KINDS = [["", "All kinds"], ["data", "Data: ATT, SMP, L2CAP"], ["advertising", "Advertising"],
  ["ll", "Link layer"], ["att", "ATT"], ["smp", "SMP"], ["l2cap", "L2CAP"], ["empty", "Empty"], ["other", "Other"]];
const OUTCOMES = [["", "All outcomes"], ["received", "Received"], ["bad", "With losses"], ["collided", "Collided"],
  ["unheard", "Unheard"]];
const DATA = ["att", "smp", "l2cap", "data"];
const BAD = ["corrupt", "missed"];
const OUTCOME_TAGS = { received: "good", corrupt: "bad", missed: "warn", unheard: "" };

function hasOutcome(packet, outcome) {
  if (outcome === "bad") return BAD.includes(packet.outcome);
  return outcome === "collided" ? packet.collided === true : packet.outcome === outcome;
}

/** A function that tells whether a packet passes the filters. */
export function filter({ text, kind, outcome, device, hidesEmpty }) {
  const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return (packet) => {
    if (hidesEmpty && packet.kind === "empty" && kind !== "empty") return false;
    if (kind && packet.kind !== kind && !(kind === "data" && DATA.includes(packet.kind))) return false;
    if (outcome && !hasOutcome(packet, outcome)) return false;
    if (device && packet.sender !== device && !packet.receivers?.some((one) => one.device === device)) return false;
    if (!words.length) return true;
    const content = [packet.name, packet.summary, packet.sender, packet.kind, packet.link, packet.phy,
      `ch${packet.channel}`,
      ...(packet.receivers ?? []).map((one) => one.device)].join(" ").toLowerCase();
    return words.every((word) => content.includes(word));
  };
}

export function packetPanel(air) {
  const { store } = air;
  const chosen = { text: "", kind: "", outcome: "", device: "", hidesEmpty: true };
  let [passes, found, isFrozen, follows, selected] = [filter(chosen), [], false, true, null];
  let source = store.packets;
  const ends = [];
  const set = (key) => (event) => {
    chosen[key] = event.target.type === "checkbox" ? event.target.checked : event.target.value;
    passes = filter(chosen);
    find();
  };
  const devices = choice("Device", [["", "All devices"]], { id: "packet-device", onchange: set("device") });
  const freeze = h("button",
    { type: "button", id: "freeze", "aria-pressed": "false", onclick: () => setFrozen(!isFrozen) },
    icon("pause"), "Hold list");
  const count = h("span", { class: "quiet", id: "packet-count" });
  const tools = h("div", { class: "row packet-tools" },
    h("input", { type: "search", id: "packet-filter", placeholder: "Words, such as strap ATT ch37",
      "aria-label": "Filter packets", oninput: set("text") }),
    choice("Kind of packets", KINDS, { id: "packet-kind", onchange: set("kind") }),
    choice("Outcome", OUTCOMES, { id: "packet-outcome", onchange: set("outcome") }), devices,
    h("label", { class: "check" },
      h("input", { type: "checkbox", id: "hide-empty", checked: true, onchange: set("hidesEmpty") }), "Hide empty"),
    freeze,
    store.has("capture") ? h("a", { class: "button", href: "capture.pcapng", download: "air.pcapng", id: "capture" },
      icon("down"), "pcapng") : null,
    count);

  const rows = [];
  const space = h("div", { class: "packet-space", role: "rowgroup" });
  const viewport = h("div", {
    class: "packet-rows", tabindex: "0", role: "grid", "aria-label": "Packets", "aria-colcount": "7", id: "packets",
    onscroll: () => {
      follows = viewport.scrollTop + viewport.clientHeight >= found.length * ROW - ROW;
      draw();
    }, onkeydown: keys,
  }, headRow(), space);
  const detail = detailPanel(air);
  const element = h("div", { class: "packet-view" },
    h("section", { class: "panel packet-list", "aria-label": "Packets as they fly" }, tools, viewport), detail.element);

  function headRow() {
    const cell = (text, kind = "") => h("span", { role: "columnheader", class: kind }, text);
    return h("div", { class: "packet-row head-row", role: "row", "aria-rowindex": "1" }, cell("Time", "number"),
      cell("Ch", "number"),
      cell("From"), cell("To"), cell("Packet"), cell("Content", "content"), cell("Outcome"));
  }
  function makeRow() {
    const cells = Array.from({ length: 7 },
      (_, index) => h("span", { role: "gridcell", class: index < 2 ? "number" : "clip" }));
    cells[5].classList.add("content");
    const row = h("div", { class: "packet-row", role: "row", onclick: () => choose(row.packet) }, cells);
    const tag = h("span", { class: "tag" });
    cells[6].append(tag);
    row.show = (packet, index) => {
      row.style.transform = `translateY(${index * ROW}px)`;
      setAttribute(row, "aria-selected", String(packet.number === selected));
      setAttribute(row, "aria-rowindex", index + 2);
      row.hidden = false;
      if (row.packet === packet) return;
      row.packet = packet;
      row.id = `packet-${packet.number}`;
      row.dataset.kind = packet.kind;
      setText(cells[0], packet.time.toFixed(6));
      setText(cells[1], packet.channel);
      setText(cells[2], visible(packet.sender ?? "injected"));
      setText(cells[3], visible((packet.receivers ?? []).map((one) => one.device).join(", ") || "–"));
      setText(cells[4], `${visible(packet.name)}${packet.retransmission ? " ↻" : ""}`);
      setText(cells[5], visible(packet.summary ?? ""));
      setText(tag, packet.collided && BAD.includes(packet.outcome) ? "collision" : packet.outcome);
      tag.className = `tag ${OUTCOME_TAGS[packet.outcome] ?? ""}`;
    };
    space.append(row);
    return row;
  }

  function find() {
    found = source.filter(passes);
    update();
  }
  function update() {
    space.style.height = `${found.length * ROW}px`;
    setAttribute(viewport, "aria-rowcount", found.length + 1);
    if (follows && !isFrozen) viewport.scrollTop = found.length * ROW;
    const omitted = store.omitted ? `, ${whole(store.omitted)} more were not sent to the page` : "";
    setText(count, `${whole(found.length)} of ${whole(source.length)}${omitted}`);
    draw();
  }
  function draw() {
    const first = Math.max(0, Math.floor(viewport.scrollTop / ROW) - 4);
    const last = Math.min(found.length, first + Math.ceil((viewport.clientHeight || 400) / ROW) + 8);
    for (let index = first; index < last; index += 1) (rows[index - first] ??= makeRow()).show(found[index], index);
    for (const row of rows.slice(Math.max(0, last - first))) {
      row.hidden = true;
      row.packet = null;
      row.removeAttribute("id");
    }
    const isShown = rows.some((row) => !row.hidden && row.packet?.number === selected);
    setAttribute(viewport, "aria-activedescendant", isShown ? `packet-${selected}` : null);
  }
  function setFrozen(now) {
    isFrozen = now;
    setAttribute(freeze, "aria-pressed", String(now));
    // The store's list goes on: a held list is a copy.
    source = now ? [...store.packets] : store.packets;
    if (!now) follows = true;
    find();
  }
  function choose(packet) {
    if (!packet) return;
    if (!isFrozen) setFrozen(true);
    selected = packet.number;
    draw();
    detail.show(packet);
  }
  function keys(event) {
    const page = Math.max(1, Math.floor(viewport.clientHeight / ROW) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined || !found.length) return;
    event.preventDefault();
    const index = found.findIndex((packet) => packet.number === selected);
    const next = index < 0 ? found.length - 1 : Math.min(found.length - 1, Math.max(0, index + step));
    const packet = found[next];
    if (!isFrozen) setFrozen(true);
    const place = found.indexOf(packet) * ROW;
    if (place < viewport.scrollTop) viewport.scrollTop = place;
    const lowest = place + 2 * ROW - viewport.clientHeight;
    if (lowest > viewport.scrollTop) viewport.scrollTop = lowest;
    choose(packet);
  }
  function showDevices() {
    const names = [...store.devices.keys()];
    if (devices.options.length === names.length + 1) return;
    devices.replaceChildren(h("option", { value: "" }, "All devices"),
      ...names.map((name) => h("option", { value: name }, visible(name))));
    devices.value = chosen.device;
  }
  let [isDue, seen] = [false, 0];
  ends.push(store.on("packets", () => {
    if (isFrozen || isDue) return;
    isDue = true;
    // Ten times a second is as fast as people read, and the table costs nothing in between.
    setTimeout(() => {
      isDue = false;
      if (isFrozen || !element.isConnected) return;
      source = store.packets;
      find();
    }, 100);
  }), store.on("devices", showDevices));
  const observer = new ResizeObserver(() => draw());
  observer.observe(viewport);
  showDevices();
  queueMicrotask(find);
  return {
    element,
    close() {
      observer.disconnect();
      for (const end of ends) end();
    },
  };
}
