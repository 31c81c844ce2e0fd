// align.ts - lines with times of their own onto one common axis, as uPlot wants them.
import type { PlotLine } from "./lines";

export interface Aligned {
  time: number[] | Float64Array;
  values: (ArrayLike<number | null>)[];
}

function sameAxis(a: Float64Array, b: Float64Array): boolean {
  if (a === b || a.length !== b.length) return a === b;
  for (let i = 0; i < a.length; ++i) if (a[i] !== b[i]) return false;
  return true;
}

// What is not a number is nothing: uPlot would take it for the first bound of an axis, and draw no line at all.
function nonFiniteAsNull(values: Float64Array): ArrayLike<number | null> {
  return values.every(Number.isFinite) ? values : Array.from(values, (value) => (Number.isFinite(value) ? value : null));
}

/// Where a line has no sample at a time of the axis it has null, which is drawn over.
export function align(lines: PlotLine[]): Aligned {
  if (lines.length === 0) return { time: [], values: [] };
  const axes: Float64Array[] = [];
  for (const line of lines) if (!axes.some((axis) => sameAxis(axis, line.time))) axes.push(line.time);
  if (axes.length === 1) return { time: axes[0], values: lines.map((line) => nonFiniteAsNull(line.values)) };

  const times = new Float64Array(axes.reduce((sum, axis) => sum + axis.length, 0));
  let offset = 0;
  for (const axis of axes) {
    times.set(axis, offset);
    offset += axis.length;
  }
  times.sort();
  const time = times.filter((t, i) => i === 0 || t !== times[i - 1]);
  const values = lines.map((line) => {
    const column: (number | null | undefined)[] = new Array(time.length).fill(undefined);
    let k = 0;
    for (let i = 0; i < time.length && k < line.time.length; ++i) {
      if (time[i] !== line.time[k]) continue;
      const value = line.values[k++];
      column[i] = Number.isFinite(value) ? value : null;
    }
    return column as (number | null)[];
  });
  return { time, values };
}
