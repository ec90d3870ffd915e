// The part of a fault plan that sliders show, as values, and back. Everything else of the plan stays as it is.

/** The effects that have a slider: name, text, unit, greatest value, step. */
export const EFFECTS = [
  { name: "lose", title: "Loss", unit: "%", most: 100, step: 1, text: "lost packets" },
  { name: "corrupt", title: "Corruption", unit: "%", most: 100, step: 1, text: "packets with wrong octets" },
  { name: "delay", title: "HCI delay", unit: "ms", most: 500, step: 5, text: "delay between host and controller",
    isDevice: true },
];

const KEYS = new Set(["layer", "fault", "from", "to", "percent", "by", "device"]);

/** The slider of a fault: `lose/strap/phone`, `delay/strap`. Null if no slider shows it. */
export function sliderOf(fault) {
  if (Object.keys(fault).some((key) => !KEYS.has(key))) return null;
  if (fault.layer === "air" && (fault.fault === "lose" || fault.fault === "corrupt") && fault.from !== undefined &&
    fault.device === undefined) {
    return { key: keyOf(fault.fault, fault.from, fault.to), value: fault.percent ?? 100 };
  }
  if (fault.layer === "hci" && fault.fault === "delay" && fault.device !== undefined && fault.from === undefined &&
    fault.to === undefined && fault.percent === undefined && Number.isFinite(fault.by)) {
    return { key: keyOf("delay", fault.device), value: Math.round(fault.by * 1000) };
  }
  return null;
}

export const keyOf = (effect, from, to) => JSON.stringify(to === undefined ? [effect, from] : [effect, from, to]);

/** The fault that a slider stands for. */
export function faultOf(key, value) {
  const [effect, from, to] = JSON.parse(key);
  if (effect === "delay") return { layer: "hci", fault: "delay", by: value / 1000, device: from };
  const fault = { layer: "air", fault: effect, from };
  if (to !== undefined) fault.to = to;
  return value < 100 ? { ...fault, percent: value } : fault;
}

/** The plan in which one slider has another value; 0 removes its fault. */
export function changed(faults, key, value) {
  const rest = faults.filter((fault) => sliderOf(fault)?.key !== key);
  return value > 0 ? [...rest, faultOf(key, value)] : rest;
}
