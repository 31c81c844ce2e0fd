// compass.ts - where north is, how long a metre is, and how the wind blows, in a corner of the scene.
import { make } from "./dom";
import { roundUp } from "../scene/ground";

const WIDTH_MAX = 110; // [pixels] of the scale
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export function formatLength(metres: number): string {
  if (metres >= 1000) return `${+(metres / 1000).toPrecision(3)} km`;
  if (metres >= 1) return `${+metres.toPrecision(3)} m`;
  return metres >= 0.01 ? `${+(metres * 100).toPrecision(3)} cm` : `${+(metres * 1000).toPrecision(3)} mm`;
}

function makePath(path: string, className: string): SVGPathElement {
  const shape = document.createElementNS(SVG_NAMESPACE, "path");
  shape.setAttribute("d", path);
  shape.setAttribute("class", className);
  return shape;
}

export class Compass {
  readonly element = make("div", "compass");
  length = 0; // [m] of the scale
  private turn = "";
  private wide = "";
  private readonly rose = document.createElementNS(SVG_NAMESPACE, "svg");
  private readonly turning = document.createElementNS(SVG_NAMESPACE, "g");
  private readonly bar = make("div", "scale-bar");
  private readonly text = make("div", "scale-text");

  constructor(wind?: number[]) {
    this.rose.setAttribute("viewBox", "-24 -24 48 48");
    this.rose.setAttribute("class", "rose");
    this.rose.setAttribute("role", "img");
    this.rose.setAttribute("aria-label", "north");
    const north = document.createElementNS(SVG_NAMESPACE, "text");
    north.textContent = "N";
    north.setAttribute("y", "-14");
    this.turning.append(makePath("M0 -12l4 12h-8z", "north"), makePath("M0 12l4 -12h-8z", "south"), north);
    const speed = wind ? Math.hypot(...wind) : 0;
    if (wind && speed > 0) {
      const arrow = makePath("M0 18v-34m-4 6l4 -7l4 7", "wind");
      arrow.setAttribute("transform", `rotate(${(Math.atan2(wind[0], wind[1]) * 180) / Math.PI})`);
      this.turning.append(arrow);
    }
    this.rose.append(this.turning);
    const windText = wind && speed > 0 ? make("div", "scale-text", `wind ${+speed.toPrecision(3)} m/s`) : undefined;
    this.element.append(this.rose, make("div", "scale", windText, this.text, this.bar));
  }

  /// `azimuth` [rad] is the direction the camera looks in, clockwise from north; `perMetre` [pixels] at what it looks at.
  update(azimuth: number, perMetre: number): void {
    const turn = `rotate(${((-azimuth * 180) / Math.PI).toFixed(1)})`;
    if (turn !== this.turn) this.turning.setAttribute("transform", (this.turn = turn));
    if (!(perMetre > 0) || !Number.isFinite(perMetre)) return;
    let length = roundUp(WIDTH_MAX / perMetre);
    while (length * perMetre > WIDTH_MAX) length = roundUp(length / 2.6);
    const wide = `${(length * perMetre).toFixed(1)}px`;
    if (wide !== this.wide) this.bar.style.width = this.wide = wide;
    if (length === this.length) return;
    this.length = length;
    this.text.textContent = formatLength(length);
  }
}
