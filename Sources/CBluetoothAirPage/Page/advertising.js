// The decoded fields of an advertisement.

import { facts, foreign, h, visible } from "./dom.js";
import { dBm, octets, whole } from "./format.js";

const FLAGS = ["LE limited discoverable", "LE general discoverable", "no BR/EDR", "LE and BR/EDR (controller)",
  "LE and BR/EDR (host)"];

export function advertisingRows(data) {
  if (!data) return h("p", { class: "quiet" }, "It has not advertised for 5 s.");
  const flags = FLAGS.filter((_, bit) => (data.flags ?? 0) & (1 << bit));
  return facts([
    ["Packet", [code(data.type), data.connectable ? " connectable" : " not connectable"]],
    ["Address", data.address ? code(data.address) : null],
    [data.shortened ? "Name (shortened)" : "Name", data.name === undefined ? null : foreign(data.name)],
    ["Services", data.services?.length ? list(data.services.map((one) => [name(one.name), code(one.uuid)])) : null],
    ["Service data", data.serviceData?.length
      ? list(data.serviceData.map((one) => [name(one.name), code(one.uuid), " ", code(octets(one.data ?? ""))]))
      : null],
    ["Manufacturer", data.manufacturer?.length ? list(data.manufacturer.map((one) =>
      [name(one.name ?? `company ${one.company}`), code(octets(one.data ?? ""))])) : null],
    ["Appearance", data.appearance === undefined ? null
      : [data.appearanceName ? `${visible(data.appearanceName)} ` : "",
        code(`0x${data.appearance.toString(16).padStart(4, "0")}`)]],
    ["Transmit power", data.txPower === undefined ? null : dBm(data.txPower)],
    ["Flags", data.flags === undefined ? null : flags.join(", ") || whole(data.flags)],
    ["Octets", data.octets ? code(octets(data.octets)) : null],
    ["Scan response", data.scanResponse ? code(octets(data.scanResponse)) : null],
  ]);
}

export const code = (text) => h("code", {}, visible(text ?? ""));

const name = (text) => text ? [foreign(text), " "] : "";

const list = (items) => h("ul", {}, items.map((item) => h("li", {}, item)));
