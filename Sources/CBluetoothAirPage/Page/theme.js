// Colours for canvases, as the style sheet has them, and the user's choice of light or dark.

const NAMES = ["bg", "surface", "sunken", "line", "edge", "ink", "ink-2", "accent", "on-accent", "accent-soft", "good",
  "warn", "bad", "violet", "plot-low", "plot-high"];
const CHOICES = ["system", "light", "dark"];

let known = null;

/** The colours by their names in style.css, such as `colours()["ink-2"]`. */
export function colours() {
  if (known) return known;
  // A custom property with light-dark() has no value of its own: an element that uses it has.
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  known = {};
  for (const name of NAMES) {
    probe.style.color = `var(--${name})`;
    known[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return known;
}

/** Numbers of a colour such as `rgb(1, 2, 3)`. */
export const channels = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);

const listeners = new Set();

/** Calls a function whenever the colours change. Returns a function that ends that. */
export function onColours(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed() {
  known = null;
  for (const listener of listeners) listener();
}

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** True if the user wants no movement. */
export const isStill = () => stillness.matches;

/** Makes the button of the page's head choose colours in turn. */
export function startTheme(button) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  const show = (choice) => {
    if (choice === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    button.setAttribute("aria-label", `Colours: ${choice === "system" ? "as the system" : choice}`);
    button.title = button.getAttribute("aria-label");
    changed();
  };
  let choice = CHOICES.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "system";
  show(choice);
  button.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    localStorage.setItem("theme", choice);
    show(choice);
  });
}

/** Makes a canvas as sharp as the screen. Calls `resized(width, height)` at each change of its size, in CSS pixels, and
 *  returns a function that ends that. */
export function keepSharp(canvas, resized) {
  const observer = new ResizeObserver(() => {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const { width, height } = canvas.getBoundingClientRect();
    if (!width || !height) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    resized(width, height);
  });
  observer.observe(canvas);
  return () => observer.disconnect();
}
