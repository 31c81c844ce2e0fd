// differences.ts - in what two scenarios differ, so that two runs of them can be called by it.

export interface Difference {
  path: string; // drones[0].vehicle.mass
  a?: string;
  b?: string;
}

/// Values of a resolved scenario, as `volery check` prints it, by their paths: one key or list item a line, nested by spaces.
export function leavesOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const open: { indent: number; path: string; items: number }[] = [{ indent: -1, path: "", items: 0 }];
  for (const line of text.split("\n")) {
    let rest = line.replace(/\s+$/, "");
    if (rest.trim() === "" || rest.trim().startsWith("#")) continue;
    let indent = rest.length - rest.trimStart().length;
    rest = rest.trimStart();
    while (rest.startsWith("- ")) {
      while (open[open.length - 1].indent > indent || (open[open.length - 1].indent === indent && !open[open.length - 1].path.endsWith("]"))) open.pop();
      if (open[open.length - 1].indent === indent) open.pop(); // the item before
      const list = open[open.length - 1];
      open.push({ indent, path: `${list.path}[${list.items++}]`, items: 0 });
      const inner = rest.slice(2).trimStart();
      indent += rest.length - inner.length;
      rest = inner;
    }
    const key = /^("[^"]*"|[^\s:{["]+):(?:\s+(.*))?$/.exec(rest);
    if (!key) {
      found.set(open[open.length - 1].path, rest); // an item that is a value
      continue;
    }
    while (open[open.length - 1].indent >= indent) open.pop();
    const parent = open[open.length - 1].path;
    const path = parent === "" ? key[1] : `${parent}.${key[1]}`;
    if (key[2] !== undefined && key[2] !== "") found.set(path, key[2]);
    open.push({ indent, path, items: 0 });
  }
  return found;
}

export function differencesOf(a: string, b: string): Difference[] {
  const [left, right] = [leavesOf(a), leavesOf(b)];
  const paths = [...new Set([...left.keys(), ...right.keys()])];
  return paths.filter((path) => left.get(path) !== right.get(path)).map((path) => ({ path, a: left.get(path), b: right.get(path) }));
}

const VALUE_MAX = 24;

function short(value: string | undefined): string {
  const text = (value ?? "none").replace(/^"(.*)"$/, "$1");
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text;
}

/// A and B in a few words each: what differs first, and how much more.
export function namesOf(differences: Difference[]): [string, string] | undefined {
  const telling = differences.filter(({ path }) => path !== "name");
  const first = telling[0] ?? differences[0];
  if (!first) return undefined;
  const key = first.path === "name" ? "" : `${first.path.split(".").slice(-2).join(".")} `;
  const more = telling.length > 1 ? `, ${telling.length - 1} more` : "";
  return [`${key}${short(first.a)}${more}`, `${key}${short(first.b)}${more}`];
}
