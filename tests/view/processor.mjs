// processor.mjs - processor time of a browser that was started here, by Linux's account: what else a machine does changes it least.
import { readdirSync, readFileSync } from "node:fs";

// All processes below this one.
function ours() {
  const parents = new Map();
  for (const id of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${id}/stat`, "utf8");
      parents.set(Number(id), Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // it has ended meanwhile
    }
  }
  const isOurs = (id) => id !== undefined && (parents.get(id) === process.pid || isOurs(parents.get(id)));
  return [...parents.keys()].filter(isOurs);
}

/// [ms] of all threads by that name, or of all.
export function processorTime(name) {
  let sum = 0;
  for (const id of ours()) {
    try {
      for (const thread of readdirSync(`/proc/${id}/task`)) {
        const folder = `/proc/${id}/task/${thread}`;
        if (name === undefined || readFileSync(`${folder}/comm`, "utf8").trim() === name) sum += Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]) / 1e6;
      }
    } catch {
      // it has ended meanwhile
    }
  }
  return sum;
}
