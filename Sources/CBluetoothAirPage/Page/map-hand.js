// What a hand does with the map: drag devices, pan, zoom, and all of that with keys.

const NEAR = 4;

/** Connects pointer, wheel and keys with a map. `actions` has `select(name)`, `move(name, x, y, isLast)` and
 *  `open(name)`. */
export function holdMap(map, actions) {
  const { canvas, camera } = map;
  const pointers = new Map();
  let drag = null;
  let pinch = 0;

  const pixel = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    const at = pixel(event);
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
      pinch = spanOf(pointers);
      drag = null;
      return;
    }
    const device = map.deviceAt(...at, event.pointerType === "touch" ? 24 : undefined);
    drag = { device, from: at, last: at, isMoving: false, at: device ? map.placeOf(device) : null };
  });

  canvas.addEventListener("pointermove", (event) => {
    const at = pixel(event);
    if (!pointers.has(event.pointerId)) {
      hover(at);
      return;
    }
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
      const span = spanOf(pointers);
      const [a, b] = [...pointers.values()];
      if (pinch > 0) camera.zoom(span / pinch, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      pinch = span;
      map.change();
      return;
    }
    if (!drag) return;
    if (!drag.isMoving && Math.hypot(at[0] - drag.from[0], at[1] - drag.from[1]) < NEAR) return;
    drag.isMoving = true;
    if (drag.device && actions.canMove()) {
      actions.move(
        drag.device.id, drag.at[0] + (at[0] - drag.from[0]) / camera.scale,
        drag.at[1] - (at[1] - drag.from[1]) / camera.scale, false);
    } else {
      camera.pan(at[0] - drag.last[0], at[1] - drag.last[1]);
      map.request();
    }
    drag.last = at;
  });

  const end = (event) => {
    pointers.delete(event.pointerId);
    pinch = 0;
    if (drag && !drag.isMoving && event.type === "pointerup") actions.select(drag.device?.id ?? null);
    if (drag?.isMoving && drag.device && actions.canMove()) {
      const place = map.placeOf(drag.device);
      actions.move(drag.device.id, place[0], place[1], true);
      actions.select(drag.device.id);
    }
    drag = null;
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("dblclick", (event) => {
    const device = map.deviceAt(...pixel(event));
    if (device) actions.open(device.id);
  });

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...pixel(event));
    map.change();
  }, { passive: false });

  function hover(at) {
    const name = map.deviceAt(...at)?.id ?? null;
    canvas.style.cursor = name ? (actions.canMove() ? "grab" : "pointer") : "default";
    if (name === map.hovered) return;
    map.hovered = name;
    map.change();
  }

  canvas.addEventListener("keydown", (event) => {
    if (key(event)) event.preventDefault();
  });

  function key(event) {
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (arrow && !event.altKey && !event.metaKey) {
      const device = map.selected !== null && map.source.devices().find((one) => one.id === map.selected);
      if (device && actions.canMove() && !event.ctrlKey) {
        const length = event.shiftKey ? 0.1 : camera.roundDistance(24);
        const place = map.placeOf(device);
        actions.move(device.id, place[0] + arrow[0] * length, place[1] + arrow[1] * length, true);
      } else {
        camera.pan(-arrow[0] * 60, arrow[1] * 60);
        map.change();
      }
      return true;
    }
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    switch (event.key) {
      case "+": case "=": camera.zoom(1.25); break;
      case "-": camera.zoom(0.8); break;
      case "0": map.fit(); break;
      case "n": choose(1); break;
      case "p": choose(-1); break;
      case "Escape": actions.select(null); break;
      case "Enter": if (map.selected !== null) actions.open(map.selected); break;
      default: return false;
    }
    map.change();
    return true;
  }

  function choose(direction) {
    const names = map.source.devices().map((device) => device.id);
    if (!names.length) return;
    const index = names.indexOf(map.selected);
    actions.select(names[index < 0 ? 0 : (index + direction + names.length) % names.length]);
  }
}

function spanOf(pointers) {
  const [a, b] = [...pointers.values()];
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}
