// differences.ts - in what two scenarios differ, so that two runs of them can be called by it.

export interface Difference {
  path: string; // drones[0].vehicle.mass
  a?: string;
  b?: string;
}

/// Values of a resolved scenario, as `volery check` prints it, by their paths: one key or list item a line, nested by spaces.
export function leavesOf(text: string): Map<string, string> {
  const values = new Map<string, string>();
  const parents: { indent: number; path: string; items: number }[] = [{ indent: -1, path: "", items: 0 }];
  for (const line of text.split("\n")) {
    let remaining = line.replace(/\s+$/, "");
    if (remaining.trim() === "" || remaining.trim().startsWith("#")) continue;
    let indent = remaining.length - remaining.trimStart().length;
    remaining = remaining.trimStart();
    while (remaining.startsWith("- ")) {
      while (parents[parents.length - 1].indent > indent || (parents[parents.length - 1].indent === indent && !parents[parents.length - 1].path.endsWith("]"))) parents.pop();
      if (parents[parents.length - 1].indent === indent) parents.pop(); // the item before
      const list = parents[parents.length - 1];
      parents.push({ indent, path: `${list.path}[${list.items++}]`, items: 0 });
      const inner = remaining.slice(2).trimStart();
      indent += remaining.length - inner.length;
      remaining = inner;
    }
    const key = /^("[^"]*"|[^\s:{["]+):(?:\s+(.*))?$/.exec(remaining);
    if (!key) {
      values.set(parents[parents.length - 1].path, remaining); // an item that is a value
      continue;
    }
    while (parents[parents.length - 1].indent >= indent) parents.pop();
    const parent = parents[parents.length - 1].path;
    const path = parent === "" ? key[1] : `${parent}.${key[1]}`;
    if (key[2] !== undefined && key[2] !== "") values.set(path, key[2]);
    parents.push({ indent, path, items: 0 });
  }
  return values;
}

export function differencesOf(a: string, b: string): Difference[] {
  const [left, right] = [leavesOf(a), leavesOf(b)];
  const paths = [...new Set([...left.keys(), ...right.keys()])];
  return paths.filter((path) => left.get(path) !== right.get(path)).map((path) => ({ path, a: left.get(path), b: right.get(path) }));
}

const VALUE_MAX = 24;

function shorten(value: string | undefined): string {
  const text = (value ?? "none").replace(/^"(.*)"$/, "$1");
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text;
}

/// A and B in a few words each: what differs first, and how much more.
export function namesOf(differences: Difference[]): [string, string] | undefined {
  const relevant = differences.filter(({ path }) => path !== "name");
  const first = relevant[0] ?? differences[0];
  if (!first) return undefined;
  const key = first.path === "name" ? "" : `${first.path.split(".").slice(-2).join(".")} `;
  const moreText = relevant.length > 1 ? `, ${relevant.length - 1} more` : "";
  return [`${key}${shorten(first.a)}${moreText}`, `${key}${shorten(first.b)}${moreText}`];
}
