// Dialogs: a new device, and a text to copy or save.

import { choice, field, h, icon, notice } from "./dom.js";

let count = 0;

function open(title, ...content) {
  const id = `dialog-${(count += 1)}`;
  const dialog = h("dialog", { "aria-labelledby": id });
  const form = h("form", { method: "dialog" },
    h("div", { class: "row spread" }, h("h2", { id }, title),
      h("button", { type: "button", class: "plain square", "aria-label": "Close", onclick: () => dialog.close() },
        icon("close"))), ...content);
  dialog.append(form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, form };
}

/** Asks for a new device: a name, a kind and a place, or an entry of a world file. */
export function addDialog(air) {
  const kinds = [...air.store.hello.kinds].sort();
  const name = h("input", { type: "text", required: true, maxlength: "248", id: "add-name",
    value: freeName(air.store) });
  const kind = choice("Kind", kinds.map((one) => [one, one]), { id: "add-kind" });
  const axes = ["x", "y", "z"].map((axis) =>
    h("input", { type: "number", step: "any", value: "0", "aria-label": `${axis} in metres`, id: `add-${axis}` }));
  const more = h("textarea",
    { rows: "4", id: "add-fields", spellcheck: "false", placeholder: "{\"batteryLevel\": 80}" });
  const { dialog, form } = open("Add a device",
    field("Name", name), field("Kind", kind),
    h("div", { class: "field" }, h("span", { class: "label" }, "Place in metres: x, y, z"),
      h("div", { class: "row" }, axes)),
    field("Further fields of the accessory, as JSON (optional)", more),
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary", id: "add-submit" }, "Add to the air"),
      h("button", { type: "button", onclick: () => dialog.close() }, "Cancel")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let fields = {};
    try {
      fields = more.value.trim() ? JSON.parse(more.value) : {};
    } catch {
      notice("The further fields are no JSON object.", true);
      return;
    }
    const position = axes.map((input) => input.valueAsNumber || 0);
    const device = name.value;
    const text = JSON.stringify({ name: device, position, accessory: { ...fields, kind: kind.value } });
    const answer = await air.request({ verb: "add", text });
    if (!answer) return;
    dialog.close();
    air.select(device);
  });
  name.select();
}

function freeName(store) {
  for (let number = 1; ; number += 1) if (!store.devices.has(`device-${number}`)) return `device-${number}`;
}

/** Shows a text with buttons to copy and to save it. */
export function textDialog(title, text, file) {
  const area = h("textarea", { rows: "14", readonly: true, "aria-label": title, id: "dialog-text", value: text });
  const { dialog } = open(title, area, h("div", { class: "row" },
    h("button", { type: "button", class: "primary", onclick: () => copy(text, area) }, icon("copy"), "Copy"),
    h("button", { type: "button", onclick: () => save(text, file) }, icon("down"), "Save as a file"),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close")));
}

/** Copies a text; where the clipboard is closed to the page, selects it. */
export async function copy(text, area) {
  try {
    await navigator.clipboard.writeText(text);
    notice("Copied.");
  } catch {
    area?.select();
    notice("The browser does not let the page copy: the text is selected, copy it with the keyboard.", true);
  }
}

/** Saves a text as a file of the user's. */
export function save(text, name, type = "text/plain") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
