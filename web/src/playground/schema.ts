// schema.ts - what the scenario's JSON Schema says of a place in the text.

interface Node {
  description?: string;
  default?: unknown;
  type?: string | string[];
  properties?: Record<string, Node>;
  additionalProperties?: boolean | Node;
  items?: Node;
  enum?: unknown[];
  const?: unknown;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  anyOf?: Node[];
  allOf?: Node[];
  oneOf?: Node[];
}

/// A key of a mapping, or a number for an element of a list.
export type Step = string | number;

export interface Key {
  name: string;
  text: string; // what it is, with its unit
  defaultText?: string; // what it is when it is left out
}

export interface Bounds {
  min: number;
  max: number;
  whole: boolean;
  unit?: string; // that min and max are in
}

// The node and all that it is made of.
function* alternatives(node: Node): Generator<Node> {
  yield node;
  for (const part of [...(node.anyOf ?? []), ...(node.allOf ?? []), ...(node.oneOf ?? [])]) yield* alternatives(part);
}

export class Schema {
  private readonly root: Node;

  constructor(text: string) {
    this.root = JSON.parse(text) as Node;
  }

  private at(path: Step[]): Node[] {
    let nodes: Node[] = [...alternatives(this.root)];
    for (const step of path) {
      const next: Node[] = [];
      for (const node of nodes) {
        const additional = typeof node.additionalProperties === "object" ? node.additionalProperties : undefined;
        const inner = typeof step === "string" ? (node.properties?.[step] ?? additional) : node.items;
        if (inner) next.push(...alternatives(inner));
      }
      nodes = next;
    }
    return nodes;
  }

  /// The keys that may stand in the mapping at `path`.
  keys(path: Step[]): Key[] {
    const keysByName = new Map<string, Key>();
    for (const { properties } of this.at(path)) {
      for (const [name, node] of Object.entries(properties ?? {})) {
        if (!keysByName.has(name)) keysByName.set(name, { name, text: node.description ?? "", defaultText: node.default === undefined ? undefined : JSON.stringify(node.default) });
      }
    }
    return [...keysByName.values()];
  }

  /// The words that may stand as the value at `path`.
  words(path: Step[]): string[] {
    const values = new Set<string>();
    for (const node of this.at(path)) for (const word of [...(node.enum ?? []), node.const]) if (word !== undefined) values.add(String(word));
    return [...values];
  }

  /// What the value at `path` is.
  textOf(path: Step[]): string {
    return this.at(path).find((node) => node.description !== undefined)?.description ?? "";
  }

  /// Between which values the number at `path` must be; undefined: no number is expected there.
  bounds(path: Step[]): Bounds | undefined {
    const node = this.at(path).find(({ type }) => type === "number" || type === "integer" || (Array.isArray(type) && type.includes("number")));
    if (!node) return undefined;
    const namedPath = [...path];
    while (typeof namedPath[namedPath.length - 1] === "number") namedPath.pop();
    const unit = /\[([^\]]+)\]$/.exec(this.textOf(namedPath))?.[1];
    return { min: node.minimum ?? node.exclusiveMinimum ?? -Infinity, max: node.maximum ?? Infinity, whole: node.type === "integer", unit };
  }
}
