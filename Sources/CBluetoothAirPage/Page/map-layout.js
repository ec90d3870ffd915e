// Where the map draws devices and names: devices at one place are spread around it, names do not cover each other.
// Everything is relative to the camera's origin, so that the layout stays while the map is panned.

export const RADIUS = 9;
const CELL = 2 * RADIUS + 2;

/** Places devices: `{device, x, y, atX, atY}` in pixels from the world's origin; `at…` is the true place. */
export function spread(devices, scale, placeOf) {
  const cells = new Map();
  const nodes = devices.map((device) => {
    const [x, y] = placeOf(device);
    const node = { device, atX: x * scale, atY: -y * scale, x: x * scale, y: -y * scale };
    const cell = `${Math.round(node.atX / CELL)},${Math.round(node.atY / CELL)}`;
    if (!cells.has(cell)) cells.set(cell, []);
    cells.get(cell).push(node);
    return node;
  });
  for (const group of cells.values()) {
    if (group.length < 2) continue;
    const centre = [mean(group, "atX"), mean(group, "atY")];
    const ring = Math.max(RADIUS + 5, (group.length * (CELL + 2)) / (2 * Math.PI));
    group.forEach((node, index) => {
      const angle = (index / group.length) * 2 * Math.PI - Math.PI / 2;
      node.x = centre[0] + ring * Math.cos(angle);
      node.y = centre[1] + ring * Math.sin(angle);
    });
  }
  return nodes;
}

const mean = (group, key) => group.reduce((sum, node) => sum + node[key], 0) / group.length;

/** Chooses a side for each name: right, left, below or above; a name without room is left out. Names of `first` have
 *  precedence, and are always shown. */
export function placeLabels(nodes, widthOf, isFirst) {
  const grid = new Map();
  const order = [...nodes].sort((a, b) => isFirst(b.device) - isFirst(a.device));
  for (const node of nodes) occupy(grid, [node.x - RADIUS, node.y - RADIUS, node.x + RADIUS, node.y + RADIUS]);
  for (const node of order) {
    const width = widthOf(node.device);
    const sides = [
      [node.x + RADIUS + 5, node.y - 8], [node.x - RADIUS - 5 - width, node.y - 8],
      [node.x - width / 2, node.y + RADIUS + 3], [node.x - width / 2, node.y - RADIUS - 19],
    ];
    node.label = null;
    for (const [x, y] of sides) {
      const box = [x, y, x + width, y + 16];
      if (!isFree(grid, box)) continue;
      node.label = [x, y + 12];
      occupy(grid, box);
      break;
    }
    if (!node.label && isFirst(node.device)) node.label = [sides[0][0], sides[0][1] + 12];
  }
}

const STEP = 48;

function* cellsOf(box) {
  for (let x = Math.floor(box[0] / STEP); x <= Math.floor(box[2] / STEP); x += 1) {
    for (let y = Math.floor(box[1] / STEP); y <= Math.floor(box[3] / STEP); y += 1) yield `${x},${y}`;
  }
}

function occupy(grid, box) {
  for (const cell of cellsOf(box)) {
    if (!grid.has(cell)) grid.set(cell, []);
    grid.get(cell).push(box);
  }
}

function isFree(grid, box) {
  for (const cell of cellsOf(box)) {
    for (const other of grid.get(cell) ?? []) {
      if (box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]) return false;
    }
  }
  return true;
}
