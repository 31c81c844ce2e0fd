// place.ts - where in a scenario one is typing: the path of the mapping, worked out from indentation and brackets, since a text that
// is being typed is seldom whole.
import type { Step } from "./schema";

export interface Place {
  path: Step[]; // of the mapping, or of the value
  isValue: boolean; // behind a colon or in a list
  from: number; // where the word begins that is being typed
}

interface Token {
  column: number;
  key?: string; // of a mapping; undefined: the dash of a list
  open: boolean; // nothing follows it in its line
}

/// Keys and dashes of a line in block style.
function tokensOf(line: string): Token[] {
  const tokens: Token[] = [];
  let column = /^ */.exec(line)![0].length;
  while (/^-( |$)/.test(line.slice(column))) {
    const rest = line.slice(column + 1);
    tokens.push({ column, open: rest.trim() === "" || rest.trim().startsWith("#") });
    column += 1 + /^ */.exec(rest)![0].length;
  }
  const key = /^([A-Za-z_][\w-]*|"[^"]*") *:(?= |$)(.*)$/.exec(line.slice(column));
  if (key) tokens.push({ column, key: key[1].replace(/"/g, ""), open: /^ *([&!]\S+ *)?(#.*)?$/.test(key[2]) });
  return tokens;
}

// The path of what begins at `column` of line `at`.
function blockPath(lines: string[], at: number, column: number): Step[] {
  const path: Step[] = [];
  let limit = column;
  let inList = false;
  for (let i = at; i >= 0 && limit >= 0; --i) {
    if (/^\s*(#|$)/.test(lines[i])) continue;
    for (const token of tokensOf(lines[i]).reverse()) {
      // A list may stand at the column of its key.
      if (!(token.column < limit || (inList && token.key !== undefined && token.column === limit)) || (i < at && !token.open && token.key !== undefined)) continue;
      path.unshift(token.key ?? 0);
      inList = token.key === undefined;
      limit = token.column;
    }
    if (limit === 0 && !inList) break;
  }
  return path;
}

// The last bracket before `pos` that is still open, and the last comma in it; -1: none.
function openBracket(text: string): { at: number; comma: number } {
  const openBrackets: { at: number; comma: number }[] = [];
  let quote = "";
  for (let i = 0; i < text.length; ++i) {
    const letter = text[i];
    if (quote) {
      if (letter === quote) quote = "";
    } else if ((letter === '"' || letter === "'") && /[\s[{,:]/.test(text[i - 1] ?? " ")) quote = letter;
    else if (letter === "#" && /\s/.test(text[i - 1] ?? " ")) i = text.indexOf("\n", i) < 0 ? text.length : text.indexOf("\n", i);
    else if (letter === "{" || letter === "[") openBrackets.push({ at: i, comma: i });
    else if (letter === "}" || letter === "]") openBrackets.pop();
    else if (letter === "," && openBrackets.length > 0) openBrackets[openBrackets.length - 1].comma = i;
  }
  return openBrackets[openBrackets.length - 1] ?? { at: -1, comma: -1 };
}

/// The path of what stands at the end of `before`: behind a bracket, a key or a dash.
function valuePath(before: string): Step[] {
  const { at, comma } = openBracket(before);
  if (at < 0) {
    const lines = before.split("\n");
    const line = lines[lines.length - 1];
    const tokens = tokensOf(`${line} `.replace(/: +$/, ": x"));
    return blockPath([...lines.slice(0, -1), line], lines.length - 1, tokens.length > 0 ? tokens[tokens.length - 1].column + 1 : line.length);
  }
  const inner = valuePath(before.slice(0, at));
  if (before[at] === "[") return [...inner, 0];
  const key = /^\s*([\w-]+)\s*:/.exec(before.slice(comma + 1));
  return key ? [...inner, key[1]] : inner;
}

export function placeAt(text: string, pos: number): Place {
  const before = text.slice(0, pos);
  const word = /[\w-]*$/.exec(before)![0];
  const from = pos - word.length;
  const { at, comma } = openBracket(before);
  if (at >= 0) {
    const piece = before.slice(comma + 1, from);
    const isKey = before[at] === "{" && !piece.includes(":");
    return { path: isKey ? valuePath(before.slice(0, at)) : valuePath(before.slice(0, from)), isValue: !isKey, from };
  }
  const lines = before.split("\n");
  const line = lines[lines.length - 1];
  if (/: +[\w-]*$/.test(line)) return { path: valuePath(before.slice(0, from)), isValue: true, from };
  const column = line.length - word.length;
  return { path: blockPath(lines, lines.length - 1, column), isValue: false, from };
}
