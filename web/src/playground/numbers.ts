// numbers.ts - the numbers of a scenario's text: where each stands, its unit, and its path as `--set` has it.
import type { SyntaxNode, Tree } from "@lezer/common";
import type { Step } from "./schema";

export interface TextNumber {
  from: number; // of the number, without its unit
  to: number;
  text: string;
  unit: string; // as written; "" for none
  path: Step[];
  name: string; // as `--set` takes it: drones[0].start.position[2]
}

const NUMBER = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?:\s+(\S.*))?$/;

export function nameOf(path: Step[]): string {
  return path.reduce<string>((name, step) => (typeof step === "number" ? `${name}[${step}]` : name ? `${name}.${step}` : step), "");
}

function pathOf(node: SyntaxNode, text: (node: SyntaxNode) => string): Step[] | undefined {
  const path: Step[] = [];
  for (let current: SyntaxNode | null = node; current?.parent; current = current.parent) {
    const { parent } = current;
    if (current.name === "Key") return undefined;
    if (parent.name === "Pair") {
      const key = parent.getChild("Key");
      if (key) path.unshift(text(key).replace(/^["']|["']$/g, ""));
    } else if (current.name === "Item") {
      let index = 0;
      for (let sibling = current.prevSibling; sibling; sibling = sibling.prevSibling) if (sibling.name === "Item") ++index;
      path.unshift(index);
    }
  }
  return path;
}

/// All of them, in the order of the text.
export function numbersIn(tree: Tree, source: string): TextNumber[] {
  const numbers: TextNumber[] = [];
  const textOf = (node: SyntaxNode) => source.slice(node.from, node.to);
  tree.iterate({
    enter: (ref) => {
      if (ref.name !== "Literal") return;
      const match = NUMBER.exec(source.slice(ref.from, ref.to));
      const path = match && pathOf(ref.node, textOf);
      if (!match || !path || path.length === 0) return;
      numbers.push({ from: ref.from, to: ref.from + match[1].length, text: match[1], unit: match[2] ?? "", path, name: nameOf(path) });
    },
  });
  return numbers;
}
