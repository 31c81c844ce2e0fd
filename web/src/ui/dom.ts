// dom.ts - elements made by code. Texts go in as text, never as markup: what a log says is data.

type Child = Node | string | undefined;

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, className = "", ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/// Text that changes often: what is the same is left alone, else the text changes in place, which costs the page less than a new one.
export function write(element: HTMLElement, text: string): void {
  const { firstChild } = element;
  if (!(firstChild instanceof Text)) element.textContent = text;
  else if (firstChild.data !== text) firstChild.data = text;
}

/// A button with a shape for the eye and words for everybody else.
export function makeButton(className: string, face: Node | string, words: string, act: () => void): HTMLButtonElement {
  const button = make("button", className, face);
  button.type = "button";
  button.title = words;
  button.setAttribute("aria-label", words.replace(/ \(.*\)$/, ""));
  button.addEventListener("click", () => {
    act();
    button.blur(); // so that the space bar stays the one for play
  });
  return button;
}

/// A drawing of 16 by 16 from a path.
export function makeIcon(path: string, filled = true): SVGSVGElement {
  const svgNamespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(svgNamespace, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", filled ? "icon" : "icon line");
  const shape = document.createElementNS(svgNamespace, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/// A number for people: `digits` significant ones, never in a way that jumps about.
export function formatNumber(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return value.toExponential(digits - 2).replace("-", "−").replace("e−", "e−");
  const before = size >= 1 ? Math.floor(Math.log10(size)) + 1 : 1;
  return value.toFixed(Math.max(0, Math.min(6, digits - before))).replace("-", "−");
}

export function formatFixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1e7 ? formatNumber(value) : value.toFixed(digits).replace("-", "−");
}

/// With a prefix, so that small values keep their digits: 0.31 mN.
export function formatUnit(value: number, unit: string): string {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size === 0 || size >= 0.1) return `${formatNumber(value, 3)} ${unit}`;
  for (const [prefix, scale] of [["m", 1e-3], ["µ", 1e-6], ["n", 1e-9], ["p", 1e-12]] as const) {
    if (size >= 0.0999 * scale) return `${formatNumber(value / scale, 3)} ${prefix}${unit}`;
  }
  return `0 ${unit}`;
}

export function formatTime(seconds: number): string {
  return seconds.toFixed(3);
}
