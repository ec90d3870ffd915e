// The page's picture of the air: what the server has told, and what follows from it. Views read it and listen for
// changes.

import { clock, dBm, plural } from "./format.js";
import { History } from "./history.js";

const MOST_PACKETS = 5000;
const MOST_EVENTS = 500;
const LONGEST_TRAIL = 200;
/** Seconds within which the same fault of a device is one line. */
const SAME_FAULT = 10;
const MOST_ENDED = 50;
const MOST_STRIKES = 2000;
const LAST_MOMENTS = 5;

export class Store {
  hello = { features: [], kinds: [], limits: {} };
  time = 0;
  speed = 1;
  paused = false;
  devices = new Map();
  links = new Map();
  faults = [];
  interference = [];
  environment = null;
  apps = null;
  /** The links that have ended, the oldest first, as they were. */
  ended = [];
  /** The latest packets, the oldest first. */
  packets = [];
  /** The number of packets that were not in the messages. */
  omitted = 0;
  /** What has happened: `{time, kind, devices, text}`, the oldest first. */
  events = [];
  /** The latest faults that struck: `{device, time}`. */
  strikes = [];
  /** Values that devices have sent, by device and handle. */
  values = new Map();
  /** The latest places of devices that move, by name. */
  trails = new Map();
  history = new History();

  #listeners = new Map();

  has(feature) {
    return this.hello.features.includes(feature);
  }

  /** Calls a function at each change of a kind: hello, world, tick, packets, devices, events, faults, apps, values,
   *  status. Returns a function that ends that. */
  on(kind, listener) {
    if (!this.#listeners.has(kind)) this.#listeners.set(kind, new Set());
    this.#listeners.get(kind).add(listener);
    return () => this.#listeners.get(kind).delete(listener);
  }

  emit(kind, detail) {
    for (const listener of this.#listeners.get(kind) ?? []) listener(detail);
  }

  receive(message) {
    if (message.type === "hello") this.#begin(message);
    else if (message.type === "world") this.#replace(message);
    else if (message.type === "tick") this.#advance(message);
  }

  #begin(message) {
    this.hello = { features: [], kinds: [], limits: {}, ...message };
    this.packets = [];
    this.omitted = 0;
    this.events = [];
    this.ended = [];
    this.strikes = [];
    this.values.clear();
    this.trails.clear();
    this.history = new History();
    this.emit("hello");
  }

  #replace(message) {
    this.#takeTime(message);
    this.devices = new Map((message.devices ?? []).map((device) => [device.name, this.#derived(device)]));
    this.links = new Map((message.links ?? []).map((link) => [link.id, withEnds(link)]));
    this.faults = message.faults ?? [];
    this.interference = (message.interference ?? []).map((source) => ({ ...source, name: source.kind }));
    this.environment = message.environment ?? null;
    this.apps = message.apps ?? null;
    this.#deriveStates();
    for (const kind of ["world", "devices", "faults", "apps", "packets", "events", "tick"]) this.emit(kind);
  }

  #takeTime({ time, speed, paused }) {
    if (Number.isFinite(time)) this.time = time;
    if (Number.isFinite(speed)) this.speed = speed;
    if (paused !== undefined) this.paused = paused;
  }

  #advance(tick) {
    this.#takeTime(tick);
    const changed = new Set();
    for (const device of tick.devices ?? []) {
      this.#noteDevice(this.devices.get(device.name), device);
      this.#noteTrail(this.devices.get(device.name), device);
      this.devices.set(device.name, this.#derived(device));
      changed.add("devices");
    }
    for (const name of tick.removed ?? []) {
      this.trails.delete(name);
      if (this.devices.delete(name)) this.#note("device", [name], "left the air", tick.time);
      changed.add("devices");
    }
    this.#takeLinks(tick, changed);
    if (changed.has("devices")) this.#deriveStates();
    this.#takePackets(tick, changed);
    for (const strike of tick.strikes ?? []) {
      this.#noteStrike(strike);
      changed.add("events");
    }
    if (tick.faults) {
      this.faults = tick.faults;
      changed.add("faults");
    }
    if (tick.apps) {
      this.apps = tick.apps;
      changed.add("apps");
    }
    for (const value of tick.values ?? []) {
      this.values.set(`${value.device}/${value.handle}`, value);
      changed.add("values");
    }
    this.history.take(tick, this.links.values());
    for (const kind of changed) this.emit(kind);
    this.emit("tick", tick);
  }

  #takeLinks(tick, changed) {
    for (const link of tick.links ?? []) {
      const before = this.links.get(link.id);
      if (!before) {
        this.#note("link", [link.central, link.peripheral], "connected", tick.time);
        changed.add("events");
      }
      this.links.set(link.id, withEnds(this.#withNames(link, before)));
      changed.add("devices");
    }
    for (const { id, reasons } of tick.ended ?? []) {
      const link = this.links.get(id);
      this.links.delete(id);
      if (!link) continue;
      const past = this.#lastMoments(link, tick.time);
      const cause = causeOf(reasons ?? []);
      this.ended.push({ ...link, isEnded: true, time: tick.time, reason: cause, past });
      if (this.ended.length > MOST_ENDED) this.ended.shift();
      this.#note("ended", [link.central, link.peripheral], `link ended: ${cause}. ${past}`,
        tick.time);
      changed.add("devices").add("events");
    }
  }

  /** A link of which one end has gone, so that the server knows this end by its address only, keeps the name. */
  #withNames(link, before) {
    const name = (end) => before && !this.devices.has(link[end]) ? before[end] : link[end];
    return { ...link, central: name("central"), peripheral: name("peripheral") };
  }

  /** What the last seconds of a link were like, for people who ask why it ended. */
  #lastMoments(link, time) {
    const samples = this.history.link(link.id).filter((sample) => sample.time >= time - LAST_MOMENTS);
    const limit = this.limitOf(link);
    const parts = [];
    const levels = samples.filter((sample) => Number.isFinite(sample.rssi));
    if (levels.length) {
      parts.push(`level ${dBm(levels[0].rssi)} to ${dBm(levels.at(-1).rssi)}, limit ${dBm(limit)}`);
    }
    if (samples.length > 1) parts.push(plural(samples.at(-1).losses - samples[0].losses, "loss", "losses"));
    const ends = [link.central, link.peripheral];
    const strikes = this.strikes.filter((one) => one.time >= time - LAST_MOMENTS && ends.includes(one.device)).length;
    if (strikes) parts.push(`${plural(strikes, "fault")} struck`);
    for (const name of ends) {
      const device = this.devices.get(name);
      if (device?.radio === false) parts.push(`the radio of ${name} is muted`);
      else if (device?.power === false) parts.push(`${name} is off`);
    }
    return parts.length ? `In its last ${LAST_MOMENTS} s: ${parts.join("; ")}` : "";
  }

  /** The weakest level that both ends of a link receive. */
  limitOf(link) {
    return Math.max(...[link.central, link.peripheral].map((name) => this.devices.get(name)?.sensitivity ?? -90));
  }

  #takePackets(tick, changed) {
    this.omitted += tick.omitted ?? 0;
    if (!tick.packets?.length) return;
    this.packets.push(...tick.packets);
    if (this.packets.length > MOST_PACKETS) this.packets.splice(0, this.packets.length - MOST_PACKETS * 0.8);
    changed.add("packets");
  }

  #noteDevice(before, device) {
    const note = (text) => this.#note("device", [device.name], text);
    if (!before) note("came to the air");
    else if (before.power !== device.power) note(device.power ? "Bluetooth on" : "Bluetooth off");
    else if (before.radio !== device.radio) note(device.radio ? "radio on" : "radio muted");
    else if (before.joined !== device.joined) note(device.joined ? "a host joined" : "the host left");
  }

  /** A fault that strikes again and again is one line with a count. */
  #noteStrike({ device, text, time }) {
    this.strikes.push({ device, time });
    if (this.strikes.length > MOST_STRIKES) this.strikes.splice(0, MOST_STRIKES / 2);
    const same = this.events.findLast((event) => event.kind === "fault" && event.strike === text &&
      event.devices[0] === device && time - event.first < SAME_FAULT);
    if (!same) {
      this.#note("fault", [device], text, time);
      Object.assign(this.events.at(-1), { strike: text, first: time, count: 1 });
      return;
    }
    same.count += 1;
    same.text = `${text}, ${same.count} times until ${clock(time)}`;
    this.emit("events");
  }

  #noteTrail(before, device) {
    if (!before || !device.position) return;
    if (!this.trails.has(device.name)) this.trails.set(device.name, [before.position]);
    const trail = this.trails.get(device.name);
    const last = trail.at(-1);
    if (Math.hypot(device.position[0] - last[0], device.position[1] - last[1]) < 0.1) return;
    trail.push(device.position);
    if (trail.length > LONGEST_TRAIL) trail.shift();
  }

  #note(kind, devices, text, time = this.time) {
    this.events.push({ time: time ?? this.time, kind, devices: devices.filter(Boolean), text });
    if (this.events.length > MOST_EVENTS) this.events.splice(0, 100);
    this.emit("events");
  }

  #derived(device) {
    return { ...device, id: device.name, isHost: device.role === "host" || device.role === "page",
      position: device.position ?? [0, 0, 0] };
  }

  /** The state that people see first: off, connected, advertising or idle. */
  #deriveStates() {
    const linked = new Set([...this.links.values()].flatMap((link) => [link.central, link.peripheral]));
    for (const device of this.devices.values()) {
      if (device.radio === false || device.power === false) device.state = "off";
      else if (linked.has(device.name)) device.state = "connected";
      else device.state = device.advertising ? "advertising" : "idle";
    }
  }

  /** Shows a plan of faults that has been asked for: the next change begins with it. */
  expectFaults(faults) {
    this.faults = faults;
    this.emit("faults");
  }

  linksOf(name) {
    return [...this.links.values()].filter((link) => link.central === name || link.peripheral === name);
  }

  /** The distances at which the device's signal has some levels, by the model of the environment. */
  rings(name) {
    const device = this.devices.get(name);
    const model = this.environment;
    if (!device || !model?.exponent) return [];
    const power = device.transmitPower ?? 0;
    const limit = device.sensitivity ?? -90;
    return [-50, -70, limit].map((level) => ({
      level, radius: 10 ** ((power - level - model.reference - (model.margin ?? 0)) / (10 * model.exponent)),
      isLimit: level === limit,
    }));
  }
}

/** A link with its ends as the map needs them, and the weaker level of both directions. */
function withEnds(link) {
  const levels = [link.rssiAtCentral, link.rssiAtPeripheral].filter(Number.isFinite);
  return { ...link, a: link.central, b: link.peripheral, rssi: levels.length ? Math.min(...levels) : undefined };
}

/** Why a link ended, as its ends have told their hosts. */
function causeOf(reasons) {
  const texts = new Set(reasons.map((one) => one.text));
  if (!reasons.length) return "Neither end has told why";
  if (reasons.length > 1 && texts.size === 1) return `${reasons[0].text} at both ends`;
  return reasons.map(({ device, text }) => `${device}: ${text}`).join(", ");
}
