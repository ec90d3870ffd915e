// The recent past in slices of radio time: the use of channels, the air time of devices, the level and losses of links.

export const SLICES = 120;
/** The lengths of a slice in seconds: the pictures show 120 slices. */
export const WIDTHS = [0.1, 0.5, 5];

export class History {
  #slices = new Map(WIDTHS.map((width) => [width, []]));
  #links = new Map();

  /** Adds what a message of the server tells. */
  take(tick, links) {
    for (const width of WIDTHS) this.#add(tick, width);
    for (const link of links) this.#addLink(link, tick.time);
  }

  #add(tick, width) {
    const slices = this.#slices.get(width);
    const number = Math.floor(tick.time / width);
    let last = slices.at(-1);
    // Time that goes back is another world.
    if (last && number < last.number) slices.length = 0;
    if (!last || last.number !== number) {
      last = { number, airTime: new Float64Array(40), packets: new Uint32Array(40), bad: new Uint32Array(40),
        collided: new Uint32Array(40), senders: new Map() };
      slices.push(last);
      if (slices.length > SLICES) slices.shift();
    }
    for (const [channel, airTime, packets, bad, collided] of tick.channels ?? []) {
      if (!(channel >= 0 && channel < 40)) continue;
      last.airTime[channel] += airTime;
      last.packets[channel] += packets;
      last.bad[channel] += bad;
      last.collided[channel] += collided;
    }
    for (const [name, airTime] of Object.entries(tick.airTime ?? {})) {
      last.senders.set(name, (last.senders.get(name) ?? 0) + airTime);
    }
  }

  #addLink(link, time) {
    const samples = this.#links.get(link.id) ?? [];
    this.#links.set(link.id, samples);
    if (samples.length && time - samples.at(-1).time < 0.5) return;
    samples.push({
      time, rssi: link.rssi, bits: (link.bitsToCentral ?? 0) + (link.bitsToPeripheral ?? 0),
      losses: (link.retransmissions ?? 0) + (link.crcErrors ?? 0) + (link.missedEvents ?? 0),
    });
    if (samples.length > SLICES) samples.shift();
    if (this.#links.size > 500) this.#links.delete(this.#links.keys().next().value);
  }

  /** The slices of a width, the oldest first; those without a packet may be missing. */
  slices(width) {
    return this.#slices.get(width);
  }

  /** The samples of a link, the oldest first. */
  link(id) {
    return this.#links.get(id) ?? [];
  }

  /** The share of the latest slices in which each device sent: [[name, share], …], the busiest first. */
  airTimes(width, now) {
    const first = Math.floor(now / width) - SLICES + 1;
    const totals = new Map();
    let earliest = now;
    for (const slice of this.slices(width)) {
      if (slice.number < first) continue;
      earliest = Math.min(earliest, slice.number * width);
      for (const [name, airTime] of slice.senders) totals.set(name, (totals.get(name) ?? 0) + airTime);
    }
    const span = Math.max(now - earliest, width) * 1e6;
    return [...totals].map(([name, airTime]) => [name, airTime / span]).sort((a, b) => b[1] - a[1]);
  }

  /** The channels with their share of use, and their packets, also with losses and collided, in the latest slices. */
  channels(width, now) {
    const first = Math.floor(now / width) - SLICES + 1;
    const totals = Array.from({ length: 40 }, (_, channel) =>
      ({ channel, airTime: 0, packets: 0, bad: 0, collided: 0 }));
    let earliest = now;
    for (const slice of this.slices(width)) {
      if (slice.number < first) continue;
      earliest = Math.min(earliest, slice.number * width);
      for (const total of totals) {
        total.airTime += slice.airTime[total.channel];
        total.packets += slice.packets[total.channel];
        total.bad += slice.bad[total.channel];
        total.collided += slice.collided[total.channel];
      }
    }
    const span = Math.max(now - earliest, width) * 1e6;
    for (const total of totals) total.use = total.airTime / span;
    return totals;
  }
}

/** The frequency of a channel in MHz. */
export function frequency(channel) {
  if (channel === 37) return 2402;
  if (channel === 38) return 2426;
  if (channel === 39) return 2480;
  return channel <= 10 ? 2404 + 2 * channel : 2428 + 2 * (channel - 11);
}

/** All channels in the order of their frequencies. */
export const byFrequency = [...Array(40).keys()].sort((a, b) => frequency(a) - frequency(b));
