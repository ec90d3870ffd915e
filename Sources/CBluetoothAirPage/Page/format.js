// Numbers and times as text.

const signed = (text) => text.replace("-", "\u2212");

/** A time of the air: 00:01:02.345 */
export function clock(seconds, digits = 3) {
  if (!Number.isFinite(seconds)) return "–";
  const unit = 10 ** digits;
  const whole = Math.floor(Math.abs(seconds) * unit);
  const rest = String(whole % unit).padStart(digits, "0");
  const total = Math.floor(whole / unit);
  const part = (value) => String(value).padStart(2, "0");
  const text = `${part(Math.floor(total / 3600))}:${part(Math.floor(total / 60) % 60)}:${part(total % 60)}`;
  return digits ? `${text}.${rest}` : text;
}

export const decimal = (value, digits = 1) => Number.isFinite(value) ? signed(value.toFixed(digits)) : "–";

export const whole = (value) => Number.isFinite(value) ? signed(Math.round(value).toLocaleString("en")) : "–";

export const dBm = (value) => Number.isFinite(value) ? `${signed(String(Math.round(value)))} dBm` : "–";

export const percent = (value, digits = 0) => Number.isFinite(value) ? `${decimal(value * 100, digits)} %` : "–";

/** A duration in seconds with a unit that fits: 30 ms */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds === 0) return "0 s";
  const size = Math.abs(seconds);
  if (size < 1e-3) return `${short(seconds * 1e6)} µs`;
  if (size < 1) return `${short(seconds * 1e3)} ms`;
  if (size < 120) return `${short(seconds)} s`;
  if (size < 7200) return `${short(seconds / 60)} min`;
  return size < 172800 ? `${short(seconds / 3600)} h` : `${short(seconds / 86400)} days`;
}

/** At most three digits behind the point, none of them useless. */
export const short = (value) => signed(String(Number(value.toPrecision(3))));

export function bitRate(bits) {
  if (!Number.isFinite(bits)) return "–";
  if (bits < 1000) return `${whole(bits)} bit/s`;
  return bits < 1e6 ? `${short(bits / 1e3)} kbit/s` : `${short(bits / 1e6)} Mbit/s`;
}

export function current(amperes) {
  if (!Number.isFinite(amperes)) return "–";
  return amperes < 1e-3 ? `${short(amperes * 1e6)} µA` : `${short(amperes * 1e3)} mA`;
}

export const metres = (value) => `${short(value)} m`;

/** A place: 1.5, 2, 0 m */
export const place = (position) => `${position.map((value) => short(Number(value.toFixed(3)))).join(", ")} m`;

/** Hexadecimal octets in groups: 01 02 0A */
export const octets = (hex) => (hex.match(/../g) ?? []).join(" ").toUpperCase();

/** The printable ASCII of octets; others are points. */
export const ascii = (hex) => (hex.match(/../g) ?? []).map((pair) => {
  const code = parseInt(pair, 16);
  return code >= 0x20 && code < 0x7F ? String.fromCharCode(code) : "·";
}).join("");

export const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;
