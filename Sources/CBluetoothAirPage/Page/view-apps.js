// The apps of a server: their states and permissions, who holds which link, and the alerts.

import { foreign, h, listIn, panel, setText, visible } from "./dom.js";
import { plural } from "./format.js";

/** The commands on an app: name in the protocol, text, and the states in which they make sense. */
const COMMANDS = [
  ["foreground", "To the foreground", (app) => app.state !== "foreground"],
  ["background", "To the background", (app) => app.state === "foreground" || app.state === "suspended"],
  ["suspend", "Suspend", (app) => app.state === "background"],
  ["quit", "Quit", (app) => app.processes?.length > 0],
  ["allow", "Allow", (app) => app.permission !== "allowed"],
  ["deny", "Deny", (app) => app.permission !== "denied"],
];
const TAGS = { foreground: "good", background: "accent", suspended: "warn", allowed: "good", denied: "bad",
  linked: "good", waiting: "accent", ending: "warn" };

/** Who uses a link: the apps that have connected, and those whose services the device uses. */
function holdersOf({ apps = [], served = [] }) {
  const texts = [...new Set(apps), ...served.filter((app) => !apps.includes(app)).map((app) => `${app} serves it`)];
  return texts.join(", ") || "the device itself";
}

export function appsView(air) {
  const { store } = air;
  const tag = (text) => h("span", { class: `tag ${TAGS[text] ?? ""}`.trim() }, visible(text ?? "unknown"));
  const rows = h("ul", { class: "apps" });
  const none = h("p", { class: "empty" }, "No app has used the server.");
  // An app with other content is another row: its buttons depend on its state.
  const updateApps = listIn(rows, (app) => JSON.stringify(app), (app) => h("li", { class: "app stack tight" },
    h("div", { class: "row spread" }, h("h3", {}, foreign(app.name)),
      h("span", { class: "row tight" }, tag(app.state), tag(app.permission))),
    h("p", { class: "quiet" }, visible([app.adapter, app.sessions === undefined ? "" : plural(app.sessions, "session"),
      app.processes?.length ? `process ${app.processes.join(", ")}` : "no process",
      app.launched ? "the server can launch it" : ""].filter(Boolean).join(" · "))),
    app.question === undefined ? null : h("p", { class: "question" }, "It would like to use Bluetooth",
      app.question ? [": ", foreign(app.question)] : ""),
    h("div", { class: "row tight", role: "group", "aria-label": `Commands for ${visible(app.name)}` },
      COMMANDS.filter(([, , isUseful]) => isUseful(app)).map(([command, text]) => h("button", {
        type: "button", class: command === "deny" || command === "quit" ? "small danger" : "small", "data-do": command,
        onclick: () => air.send({ app: { do: command, name: app.name } }),
      }, text)))));
  const holds = h("ul", { class: "holds" });
  const noHolds = h("p", { class: "empty" }, "No app holds a link.");
  const updateHolds = listIn(holds, (hold) => JSON.stringify(hold), (hold) => h("li", { class: "row spread" },
    h("span", {}, foreign(hold.peer ?? hold.address), " ", h("code", {}, visible(hold.address ?? ""))),
    h("span", { class: "row tight" }, tag(hold.ending ? "ending" : hold.linked ? "linked" : "waiting"),
      foreign(holdersOf(hold)))));
  const alerts = h("ol", { class: "log" });
  const noAlerts = h("p", { class: "empty" }, "No alerts.");
  const updateAlerts = listIn(alerts, (alert) => alert.number, (alert) => h("li", {},
    h("time", {}, new Date(alert.time * 1000).toLocaleTimeString("en-GB")),
      h("span", {}, foreign(alert.app), ": ", foreign(alert.text))));
  const holdPanel = panel("Links", [], holds, noHolds);
  const count = h("span", { class: "quiet" });
  const element = h("div", { class: "page apps-view" }, h("header", { class: "view-head" }, h("h1", {}, "Apps"), count),
    h("div", { class: "columns" }, panel("Apps", [], rows, none),
      h("div", { class: "stack" }, holdPanel, panel("Alerts", [], alerts, noAlerts))));
  function show() {
    const { apps = [], holds: held = [], alerts: shown = [] } = store.apps ?? {};
    // A server may not tell who holds which link.
    holdPanel.hidden = store.apps?.holds === undefined;
    updateApps(apps);
    updateHolds(held);
    updateAlerts([...shown].reverse());
    [none.hidden, noHolds.hidden, noAlerts.hidden] = [apps.length > 0, held.length > 0, shown.length > 0];
    setText(count, plural(apps.length, "app"));
  }
  const end = store.on("apps", show);
  show();
  return { element, close: end };
}
