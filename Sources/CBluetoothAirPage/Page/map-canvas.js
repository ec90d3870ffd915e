// The picture of the map. It draws what a source gives, and tells what a hand does with it: `map-hand.js`.

import { Camera } from "./camera.js";
import { visible } from "./dom.js";
import { dBm, short } from "./format.js";
import { RADIUS, placeLabels, spread } from "./map-layout.js";
import { colours, isStill, keepSharp, onColours } from "./theme.js";

const PULSE = 900;
const FLIGHT = 260;
const MOST_FLIGHTS = 120;

/** The colour of a link with this RSSI, by its name. */
export function strength(rssi) {
  if (!Number.isFinite(rssi)) return "ink-2";
  if (rssi >= -70) return "good";
  return rssi >= -82 ? "warn" : "bad";
}

export class MapCanvas {
  camera = new Camera();
  selected = null;
  hovered = null;
  showsRings = true;
  showsLinks = true;
  showsPulses = true;
  /** `{image, width}`: the floor plan and its width in metres. */
  plan = null;
  /** Places that a hand has just given, until the air confirms them. */
  held = new Map();
  /** Milliseconds of the last frames, for the jury. */
  frameCosts = [];

  #pulses = new Map();
  #flights = [];
  #nodes = [];
  #widths = new Map();
  #needsLayout = true;
  #needsFrame = false;
  #frame = 0;
  #ends = [];

  constructor(canvas, source) {
    this.canvas = canvas;
    this.source = source;
    this.context = canvas.getContext("2d");
    this.#ends.push(keepSharp(canvas, (width, height) => {
      const isFirst = this.camera.width <= 1;
      [this.camera.width, this.camera.height] = [width, height];
      if (isFirst) this.fit();
      this.change();
    }));
    this.#ends.push(onColours(() => this.change()));
  }

  close() {
    cancelAnimationFrame(this.#frame);
    for (const end of this.#ends) end();
  }

  /** Draws a new frame soon. */
  change() {
    this.#needsLayout = true;
    this.request();
  }

  request() {
    this.#needsFrame = true;
    if (!this.#frame) this.#frame = requestAnimationFrame((now) => this.#draw(now));
  }

  fit() {
    const points = [...this.source.devices(), ...this.source.interference()].map((one) => one.position);
    this.camera.fit(points.length ? points : [[0, 0]]);
    this.change();
  }

  /** The place of a device in metres. */
  placeOf = (device) => this.held.get(device.id) ?? device.position;

  /** Shows that a device has sent an advertisement. */
  pulse(id) {
    if (!this.showsPulses) return;
    const now = performance.now();
    if (now - (this.#pulses.get(id) ?? -PULSE) < PULSE / 2) return;
    this.#pulses.set(id, now);
    this.request();
  }

  /** Shows a packet that flies from one device to another; a lost one is red. */
  fly(from, to, isLost) {
    if (isStill() || this.#flights.length >= MOST_FLIGHTS) return;
    this.#flights.push({ from, to, isLost, since: performance.now() });
    this.request();
  }

  /** The device at a pixel, or null. */
  deviceAt(px, py, reach = RADIUS + 7) {
    const [originX, originY] = this.camera.toScreen(0, 0);
    let [best, distance] = [null, reach];
    for (const node of this.#nodes) {
      const far = Math.hypot(originX + node.x - px, originY + node.y - py);
      if (far < distance) [best, distance] = [node.device, far];
    }
    return best;
  }

  #layOut() {
    this.#needsLayout = false;
    this.#nodes = spread(this.source.devices(), this.camera.scale, this.placeOf);
    const isFirst = (device) => device.id === this.selected || device.id === this.hovered ? 1 : 0;
    placeLabels(this.#nodes, (device) => this.#widthOf(device.name), isFirst);
  }

  #widthOf(name) {
    if (!this.#widths.has(name)) {
      if (this.#widths.size > 2000) this.#widths.clear();
      this.context.font = this.#font(550);
      this.#widths.set(name, Math.min(180, this.context.measureText(label(name)).width));
    }
    return this.#widths.get(name);
  }

  #font(weight, size = 12) {
    return `${weight} ${size}px ${getComputedStyle.cached ??= getComputedStyle(document.body).fontFamily}`;
  }

  #draw(now) {
    this.#frame = 0;
    this.#needsFrame = false;
    const begin = performance.now();
    if (this.#needsLayout) this.#layOut();
    const { context, camera } = this;
    const colour = colours();
    context.fillStyle = colour.bg;
    context.fillRect(0, 0, camera.width, camera.height);
    this.#drawPlan();
    this.#drawGrid(colour);
    const [originX, originY] = camera.toScreen(0, 0);
    const at = new Map(this.#nodes.map((node) => [node.device.id, [originX + node.x, originY + node.y]]));
    this.#drawInterference(colour);
    this.#drawTrails(colour);
    if (this.showsRings && at.has(this.selected)) this.#drawRings(colour, at.get(this.selected));
    if (this.showsLinks) this.#drawLinks(colour, at);
    this.#drawPulses(colour, at, now);
    this.#drawFlights(colour, at, now);
    this.#drawDevices(colour, originX, originY);
    this.#drawScale(colour);
    this.frameCosts.push(performance.now() - begin);
    if (this.frameCosts.length > 240) this.frameCosts.shift();
    if (this.#pulses.size || this.#flights.length || this.#needsFrame) this.request();
  }

  #drawPlan() {
    if (!this.plan) return;
    const { image, width } = this.plan;
    const [left, top] = this.camera.toScreen(0, (width * image.height) / image.width);
    this.context.globalAlpha = 0.55;
    this.context.drawImage(
      image, left, top, width * this.camera.scale, (width * image.height * this.camera.scale) / image.width);
    this.context.globalAlpha = 1;
  }

  #drawGrid(colour) {
    const { context, camera } = this;
    const step = camera.roundDistance(72);
    const [left, top] = camera.toWorld(0, 0);
    const [right, bottom] = camera.toWorld(camera.width, camera.height);
    context.strokeStyle = colour.line;
    context.lineWidth = 1;
    context.globalAlpha = this.plan ? 0.6 : 0.8;
    context.beginPath();
    for (let x = Math.ceil(left / step) * step; x <= right; x += step) {
      const px = Math.round(camera.toScreen(x, 0)[0]) + 0.5;
      context.moveTo(px, 0);
      context.lineTo(px, camera.height);
    }
    for (let y = Math.ceil(bottom / step) * step; y <= top; y += step) {
      const py = Math.round(camera.toScreen(0, y)[1]) + 0.5;
      context.moveTo(0, py);
      context.lineTo(camera.width, py);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  #drawScale(colour) {
    const { context, camera } = this;
    const length = camera.roundDistance(90);
    const [x, y, width] = [16.5, camera.height - 18.5, length * camera.scale];
    context.strokeStyle = colour["ink-2"];
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, y - 5);
    context.lineTo(x, y);
    context.lineTo(x + width, y);
    context.lineTo(x + width, y - 5);
    context.stroke();
    context.font = this.#font(500, 11);
    context.textAlign = "center";
    context.fillStyle = colour["ink-2"];
    context.fillText(`${short(length)} m`, x + width / 2, y - 5);
    context.textAlign = "start";
  }

  #drawInterference(colour) {
    const { context, camera } = this;
    for (const source of this.source.interference()) {
      const [x, y] = camera.toScreen(source.position[0], source.position[1]);
      const radius = Math.max(28, 2.2 * camera.scale);
      const light = context.createRadialGradient(x, y, 0, x, y, radius);
      light.addColorStop(0, colour.warn);
      light.addColorStop(1, "transparent");
      context.globalAlpha = source.isActive === false ? 0.08 : 0.22;
      context.fillStyle = light;
      context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      context.globalAlpha = 1;
      context.strokeStyle = colour.warn;
      context.lineWidth = 1.5;
      context.beginPath();
      for (const [dx, dy] of [[0, -7], [6.5, 4.5], [-6.5, 4.5], [0, -7]]) context.lineTo(x + dx, y + dy);
      context.closePath();
      context.stroke();
      this.#text(visible(source.name), x + 12, y + 4, colour.warn, colour.bg, 500, 11);
    }
  }

  /** The ways that devices have come: moved by a hand, or along a path of the world. */
  #drawTrails(colour) {
    const { context, camera } = this;
    context.strokeStyle = colour.edge;
    context.lineWidth = 1.5;
    context.globalAlpha = 0.6;
    for (const trail of this.source.trails()) {
      context.beginPath();
      for (const place of trail) context.lineTo(...camera.toScreen(place[0], place[1]));
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  #drawRings(colour, [x, y]) {
    const { context, camera } = this;
    const rings = this.source.rings?.(this.selected) ?? [];
    context.strokeStyle = colour.accent;
    context.setLineDash([3, 5]);
    context.lineWidth = 1;
    for (const { radius, name } of rings) {
      const size = radius * camera.scale;
      if (size < 24 || size > 4 * Math.max(camera.width, camera.height)) continue;
      context.globalAlpha = 0.75;
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.stroke();
      context.globalAlpha = 1;
      context.textAlign = "center";
      this.#text(name, x + size * 0.707, y - size * 0.707 + 4, colour.accent, colour.bg, 500, 11);
      context.textAlign = "start";
    }
    context.setLineDash([]);
  }

  #drawLinks(colour, at) {
    const { context } = this;
    for (const link of this.source.links()) {
      const [from, to] = [at.get(link.a), at.get(link.b)];
      if (!from || !to) continue;
      const name = strength(link.rssi);
      const isChosen = link.a === this.selected || link.b === this.selected;
      context.strokeStyle = colour[name];
      context.lineWidth = isChosen ? 3 : 2;
      context.globalAlpha = this.selected && !isChosen ? 0.45 : 0.9;
      context.setLineDash(name === "bad" ? [7, 5] : []);
      context.beginPath();
      context.moveTo(...from);
      context.lineTo(...to);
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 1;
      if (Math.hypot(to[0] - from[0], to[1] - from[1]) < 90) continue;
      context.textAlign = "center";
      this.#text(dBm(link.rssi), (from[0] + to[0]) / 2, (from[1] + to[1]) / 2 - 6, colour[name], colour.bg, 600, 11);
      context.textAlign = "start";
    }
  }

  #drawPulses(colour, at, now) {
    const { context } = this;
    context.strokeStyle = colour.accent;
    context.lineWidth = 1.5;
    for (const [id, since] of this.#pulses) {
      const age = (now - since) / PULSE;
      if (age >= 1) {
        this.#pulses.delete(id);
        continue;
      }
      const place = at.get(id);
      if (!place) continue;
      context.globalAlpha = 0.55 * (1 - Math.max(0, age));
      context.beginPath();
      context.arc(...place, RADIUS + 2 + (isStill() ? 5 : 24 * Math.max(0, age)), 0, 2 * Math.PI);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  #drawFlights(colour, at, now) {
    const { context } = this;
    this.#flights = this.#flights.filter((flight) => now - flight.since < FLIGHT);
    for (const { from, to, isLost, since } of this.#flights) {
      const [begin, end] = [at.get(from), at.get(to)];
      if (!begin || !end) continue;
      const age = Math.max(0, (now - since) / FLIGHT) * (isLost ? 0.6 : 1);
      context.fillStyle = isLost ? colour.bad : colour.ink;
      context.beginPath();
      context.arc(
        begin[0] + (end[0] - begin[0]) * age, begin[1] + (end[1] - begin[1]) * age, isLost ? 3.5 : 2.5, 0, 2 * Math.PI);
      context.fill();
    }
  }

  #drawDevices(colour, originX, originY) {
    const { context } = this;
    for (const node of this.#nodes) {
      const { device } = node;
      const [x, y] = [originX + node.x, originY + node.y];
      if (x < -200 || y < -50 || x > this.camera.width + 200 || y > this.camera.height + 50) continue;
      if (Math.abs(node.x - node.atX) + Math.abs(node.y - node.atY) > 3) {
        context.strokeStyle = colour.edge;
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(originX + node.atX, originY + node.atY);
        context.lineTo(x, y);
        context.stroke();
      }
      const tint = colour[TINTS[device.state] ?? "ink-2"];
      if (device.id === this.selected || device.id === this.hovered) {
        context.strokeStyle = colour.accent;
        context.lineWidth = device.id === this.selected ? 2.5 : 1.5;
        context.beginPath();
        context.arc(x, y, RADIUS + 4, 0, 2 * Math.PI);
        context.stroke();
      }
      context.beginPath();
      // A host of another program is a square, a device of the air is round.
      if (device.isHost) context.roundRect(x - RADIUS + 1, y - RADIUS + 1, 2 * RADIUS - 2, 2 * RADIUS - 2, 4);
      else context.arc(x, y, RADIUS - 0.5, 0, 2 * Math.PI);
      context.fillStyle = device.state === "off" ? colour.bg : tint;
      context.fill();
      context.strokeStyle = device.state === "off" ? colour["ink-2"] : colour.bg;
      context.lineWidth = 2;
      context.stroke();
      if (device.state === "off") {
        context.beginPath();
        context.moveTo(x - 4, y + 4);
        context.lineTo(x + 4, y - 4);
        context.stroke();
      }
    }
    for (const node of this.#nodes) {
      if (!node.label) continue;
      const isChosen = node.device.id === this.selected;
      this.#text(label(node.device.name), originX + node.label[0], originY + node.label[1],
        isChosen ? colour.accent : colour.ink, colour.bg, 550, 12, 180);
    }
  }

  /** A text with an outline in the colour of the ground, so that lines below it do not disturb. */
  #text(text, x, y, ink, ground, weight, size, most) {
    const { context } = this;
    context.font = this.#font(weight, size);
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = ground;
    context.strokeText(text, x, y, most);
    context.fillStyle = ink;
    context.fillText(text, x, y, most);
  }
}

const TINTS = { advertising: "accent", connected: "good", scanning: "violet", initiating: "violet", idle: "ink-2" };

/** A name as the map shows it: no longer than people read. */
function label(name) {
  const text = visible(name);
  const letters = [...text];
  return letters.length > 28 ? `${letters.slice(0, 27).join("")}…` : text;
}
