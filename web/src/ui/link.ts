// link.ts - the moment and the drone in the page's address, so that a link leads to what one sees: #t=12.3&drone=alpha.

export interface Moment {
  time?: number; // [s]
  drone?: string;
}

export function readMoment(hash: string): Moment {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const time = parameters.has("t") ? Number(parameters.get("t")) : NaN;
  return { time: Number.isFinite(time) ? time : undefined, drone: parameters.get("drone") ?? undefined };
}

export function hashOf(time: number, drone: string): string {
  return `#t=${+time.toFixed(3)}&drone=${encodeURIComponent(drone)}`;
}

export function writeMoment(time: number, drone: string): void {
  const hash = hashOf(time, drone);
  if (location.hash === hash) return;
  try {
    history.replaceState(null, "", hash);
  } catch {
    // some browsers forbid it to a page from disk: then there is no link, and nothing else is lost
  }
}
