// events.ts - how kinds of events look: a colour and a shape each, so that neither is needed alone.
import { theme } from "./theme";

interface Look {
  color: number; // index into the theme's lines
  shape: string; // a path of 12 by 12
  rank: number; // what lies on top where marks meet
}

const CROSS = "M2 2l8 8M10 2l-8 8";
const TRIANGLE = "M6 1.5l5 9h-10z";
const DIAMOND = "M6 1l5 5-5 5-5-5z";
const DOT = "M6 2a4 4 0 1 1 0 8a4 4 0 1 1 0-8";
const SQUARE = "M2 2h8v8h-8z";
const SHIELD = "M6 1l4.5 1.6v3.4c0 2.6-1.9 4.3-4.5 5.2c-2.6-.9-4.5-2.6-4.5-5.2v-3.4z";
const FUNNEL = "M6 10.5l-5-9h10z";
const BOLT = "M7.5 .5l-5.5 6.5h3.5l-1 4.5l5.5-6.5h-3.5z";
const HEXAGON = "M3.5 1.5h5l2.5 4.5l-2.5 4.5h-5l-2.5-4.5z";
const FLAG = "M2 .5h1.4v1h7.6l-2 2.7l2 2.7h-7.6v4.6h-1.4z";
const STAR = "M6 .5l1.5 3.5l3.8.2l-3 2.4l1 3.8l-3.3-2.1l-3.3 2.1l1-3.8l-3-2.4l3.8-.2z";

const LOOKS: Record<string, Look> = {
  missed: { color: 0, shape: FLAG, rank: 5 },
  expectation: { color: 1, shape: FLAG, rank: 1 },
  failure: { color: 0, shape: CROSS, rank: 6 },
  difference: { color: 3, shape: CROSS, rank: 6 },
  crash: { color: 0, shape: STAR, rank: 5 },
  failsafe: { color: 1, shape: SHIELD, rank: 4 },
  fault: { color: 4, shape: TRIANGLE, rank: 3 },
  rotor_lost: { color: 4, shape: FUNNEL, rank: 3 },
  injection: { color: 5, shape: BOLT, rank: 3 },
  limit: { color: 7, shape: HEXAGON, rank: 1 },
  contact: { color: 3, shape: DOT, rank: 2 },
  nap: { color: 2, shape: DIAMOND, rank: 0 },
};
const OTHER_LOOK: Look = { color: 6, shape: SQUARE, rank: 1 };

function lookOf(kind: string): Look {
  return Object.prototype.hasOwnProperty.call(LOOKS, kind) ? LOOKS[kind] : OTHER_LOOK;
}

export function colorOfKind(kind: string): string {
  return theme().lines[lookOf(kind).color];
}

/// A mark of 12 by 12.
export function markOfKind(kind: string): SVGSVGElement {
  const svgNamespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(svgNamespace, "svg");
  const path = document.createElementNS(svgNamespace, "path");
  const look = lookOf(kind);
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("class", look.shape === CROSS ? "mark line" : "mark");
  path.setAttribute("d", look.shape);
  svg.style.setProperty("--mark", `var(--line-${look.color})`);
  svg.append(path);
  return svg;
}

export function rankOfKind(kind: string): number {
  return lookOf(kind).rank;
}

/// What happens often and to no harm is marked in the margin of a plot, not across it.
export function isQuiet(kind: string): boolean {
  return rankOfKind(kind) === 0 || kind === "expectation";
}

export function namedKind(kind: string): string {
  if (kind === "missed") return "expectation missed";
  return kind === "nap" ? "negligibility" : kind.replace(/_/g, " ");
}
