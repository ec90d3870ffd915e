// The camera of the map: metres of the world to pixels of the canvas. Y goes up, as on a plan.

export class Camera {
  x = 0;
  y = 0;
  /** Pixels per metre. */
  scale = 40;
  width = 1;
  height = 1;

  toScreen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (this.y - y) * this.scale + this.height / 2];
  }

  toWorld(px, py) {
    return [(px - this.width / 2) / this.scale + this.x, this.y - (py - this.height / 2) / this.scale];
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** Zooms; the point of the world below the pixel stays there. */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toWorld(px, py);
    this.scale = Math.min(2000, Math.max(0.02, this.scale * factor));
    const [nowX, nowY] = this.toWorld(px, py);
    this.x += x - nowX;
    this.y += y - nowY;
  }

  /** Shows all points with a margin; a single point gets a view of some metres. */
  fit(points, margin = 72) {
    if (!points.length) return;
    const xs = points.map((point) => point[0]);
    const ys = points.map((point) => point[1]);
    const [left, right] = [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b))];
    const [low, high] = [ys.reduce((a, b) => Math.min(a, b)), ys.reduce((a, b) => Math.max(a, b))];
    const room = (size) => Math.max(60, size - 2 * Math.min(margin, size / 5));
    this.scale = Math.min(
      160, room(this.width) / Math.max(right - left, 2), room(this.height) / Math.max(high - low, 2));
    this.x = (left + right) / 2;
    this.y = (low + high) / 2;
  }

  /** A round distance of about this many pixels, in metres: 1, 2 or 5 times a power of ten. */
  roundDistance(pixels) {
    const metres = pixels / this.scale;
    const power = 10 ** Math.floor(Math.log10(metres));
    const first = metres / power;
    return power * (first < 1.5 ? 1 : first < 3.5 ? 2 : first < 7.5 ? 5 : 10);
  }
}
