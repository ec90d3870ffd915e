// A window on the air. This file starts the page and shows the view that the address names: `#map`, `#device/NAME`.
//
// store.js has what the server tells, the files view-….js show it, and connection.js carries commands. A text of a
// device reaches the page only through `foreign` or `visible` of dom.js, as a text node.

import { Connection } from "./connection.js";
import { announce, h, icon, notice, setAttribute, setText } from "./dom.js";
import { Store } from "./store.js";
import { startTheme } from "./theme.js";
import { startTransport } from "./transport.js";
import { airView } from "./view-air.js";
import { appsView } from "./view-apps.js";
import { deviceView } from "./view-device.js";
import { faultsView } from "./view-faults.js";
import { mapView } from "./view-map.js";
import { timeView } from "./view-time.js";

/** The views: name in the address, name for people, icon, the function that makes it, and the feature that it needs. */
const VIEWS = [
  ["map", "Map", "map", mapView, "links"],
  ["device", "Device", "device", deviceView, "links"],
  ["air", "Air", "air", airView, "packets"],
  ["faults", "Faults", "fault", faultsView, "fault"],
  ["time", "Time", "time", timeView, "links"],
  ["apps", "Apps", "apps", appsView, "apps"],
];

const store = new Store();
const live = document.getElementById("live");

const connection = new Connection((message) => store.receive(message), (text, isLive) => {
  setText(live.firstElementChild, text);
  live.className = `live tag ${isLive ? "good" : "warn"}`;
  live.title = text;
  live.setAttribute("aria-label", text);
  store.emit("status", isLive);
});

/** What views use: the state, commands, and the way to other views. */
const air = {
  store,
  selected: null,
  /** Sends a request. Shows its failure, and returns undefined then. */
  async request(request) {
    return await air.send({ request });
  },
  async send(message) {
    try {
      const answer = await connection.send(message);
      for (const text of [answer.warning, answer.note]) if (text) notice(text);
      return answer;
    } catch (error) {
      notice(error.message, true);
      return undefined;
    }
  },
  /** Selects a device for all views. */
  select(name) {
    air.selected = name;
    store.emit("selection");
  },
  openDevice(name) {
    air.select(name);
    location.hash = `#device/${encodeURIComponent(name)}`;
  },
  announce,
};

const main = document.getElementById("main");
let shown = null;

function route() {
  const [, name, detail] = location.hash.match(/^#([a-z]+)(?:\/(.*))?$/) ?? [];
  const view = available().find((one) => one[0] === name) ?? available()[0] ?? VIEWS[0];
  let argument = null;
  try {
    argument = detail ? decodeURIComponent(detail) : null;
  } catch {
    argument = null;
  }
  return { view, argument };
}

const available = () => VIEWS.filter((view) => store.has(view[4]));

/** Shows the view of the address. The view's function returns `{element, close, show}`. */
function show() {
  const { view, argument } = route();
  if (shown?.name === view[0] && shown.content.show?.(argument)) {
    markCurrent();
    return;
  }
  const isFirst = !shown;
  shown?.content.close?.();
  const content = view[3](air, argument);
  shown = { name: view[0], content };
  main.replaceChildren(content.element);
  main.setAttribute("aria-label", view[1]);
  main.dataset.view = view[0];
  main.scrollTop = 0;
  document.title = `${view[1]} – A window on the air`;
  markCurrent();
  if (!isFirst) main.focus({ preventScroll: true });
}

const links = document.getElementById("views");

function makeNavigation() {
  links.replaceChildren(...available().map(([name, title, picture]) =>
    h("li", {}, h("a", { href: `#${name}`, "data-view": name }, icon(picture), title))));
  markCurrent();
}

function markCurrent() {
  for (const link of links.querySelectorAll("a")) {
    setAttribute(link, "aria-current", link.dataset.view === shown?.name ? "page" : null);
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

startTheme(document.getElementById("theme"));
startTransport(document.getElementById("transport"), air);
addEventListener("hashchange", show);
store.on("hello", () => {
  document.documentElement.dataset.features = store.hello.features.join(" ");
  makeNavigation();
  shown?.content.close?.();
  shown = null;
});
store.on("world", () => {
  if (!shown) show();
});
main.replaceChildren(h("p", { class: "empty" }, "Waiting for the air …"));
connection.open();
