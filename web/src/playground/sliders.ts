// sliders.ts - sliders for numbers of the text: the one under the cursor, and those that are kept.
import { make, makeButton } from "../ui/dom";
import type { TextNumber } from "./numbers";
import type { Schema } from "./schema";

const SLIDER_STEPS = 200; // of a slider
const INITIAL_SLIDERS = 3; // sliders that a scenario begins with
const NOT_OFFERED = /^(volery|seed|step|duration|log\..*|expect\[.*)$|(^|\.)(time|start|at|after|within|duration|frequency|period)$/;
const PREFERRED = [/disturbances\[\d+\]\.(force|torque)/, /\.gains\./, /wind/, /mass|\.com/, /setpoints\[[1-9]\d*\]\.position/, /position|velocity|attitude/];

interface Span {
  min: number;
  max: number;
  digits: number; // behind the point
}

/// Where a slider goes: around the value, within what the schema allows where that is in the same unit.
export function spanOf(number: TextNumber, schema: Schema | undefined): Span {
  const bounds = schema?.bounds(number.path);
  const value = Number(number.text);
  const size = Math.abs(value) || 1;
  let [min, max] = bounds && bounds.min >= 0 ? [0, 2 * size] : [-2 * size, 2 * size];
  if (bounds && (number.unit === "" || number.unit === bounds.unit)) {
    max = Math.min(max, bounds.max);
    min = Math.max(min, bounds.min);
    if (bounds.whole) return { min, max: Math.min(Math.max(max, value + 10), bounds.max), digits: 0 };
  }
  const decimals = /\.(\d*)$/.exec(number.text)?.[1].length ?? 0;
  return { min, max, digits: Math.min(12, Math.max(decimals, Math.ceil(-Math.log10((max - min) / SLIDER_STEPS)))) };
}

/// As short as it can be written, without an exponent where none is needed.
export function wordOf(value: number, digits: number): string {
  const text = value.toFixed(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  return text === "-0" ? "0" : text;
}

export interface SlidersHost {
  numbers(): TextNumber[];
  cursor(): number;
  write(number: TextNumber, text: string): void;
  goTo(number: TextNumber): void;
}

interface Row {
  name: string;
  element: HTMLElement;
  range: HTMLInputElement;
  value: HTMLElement;
  unit: HTMLElement;
  pin: HTMLButtonElement;
  span: Span;
}

export class Sliders {
  readonly element = make("section", "sliders");
  schema?: Schema;
  private readonly list = make("div", "slider-list");
  private readonly hint = make("p", "dim slider-hint", "Put the cursor on any number of the text: it gets a slider.");
  private kept: string[] = [];
  private readonly rows = new Map<string, Row>();
  private held = ""; // name of the one that is being moved

  constructor(private readonly host: SlidersHost) {
    this.element.dataset.ownKeys = "";
    this.element.setAttribute("aria-label", "sliders");
    this.element.append(this.list, this.hint);
  }

  /// Another scenario: some numbers that tell much are offered.
  begin(): void {
    const numbers = this.host.numbers().filter(({ name }) => !NOT_OFFERED.test(name));
    const rank = ({ name, text }: TextNumber) => {
      const index = PREFERRED.findIndex((pattern) => pattern.test(name));
      return (index < 0 ? PREFERRED.length : index) + (Number(text) === 0 ? 10 : 0);
    };
    const chosen: TextNumber[] = [];
    for (const number of [...numbers].sort((a, b) => rank(a) - rank(b))) {
      const list = number.name.replace(/\[\d+\]$/, ""); // of a vector one
      if (chosen.length < INITIAL_SLIDERS && !chosen.some(({ name }) => name.replace(/\[\d+\]$/, "") === list)) chosen.push(number);
    }
    this.kept = chosen.sort((a, b) => a.from - b.from).map(({ name }) => name);
    this.rows.clear();
    this.update();
  }

  /// The text or the cursor has changed.
  update(): void {
    const numbers = this.host.numbers();
    const cursor = this.host.cursor();
    const numberAtCursor = numbers.find(({ from, to, unit }) => cursor >= from && cursor <= to + (unit ? unit.length + 1 : 0));
    const shown = numbers.filter(({ name }) => this.kept.includes(name) || name === numberAtCursor?.name || name === this.held);
    for (const name of [...this.rows.keys()]) if (!shown.some((number) => number.name === name)) this.rows.delete(name);
    for (const number of shown) this.show(number, number.name === numberAtCursor?.name);
    const elements = shown.map(({ name }) => this.rows.get(name)!.element);
    if (elements.length !== this.list.children.length || elements.some((element, i) => this.list.children[i] !== element)) this.list.replaceChildren(...elements);
    this.hint.style.display = numberAtCursor ? "none" : "";
  }

  private show(number: TextNumber, isHere: boolean): void {
    let row = this.rows.get(number.name);
    if (!row) {
      row = this.makeRow(number);
      this.rows.set(number.name, row);
    }
    const value = Number(number.text);
    const isOutside = value < row.span.min || value > row.span.max;
    if (this.held !== number.name && (isOutside || value === row.span.max || (value === row.span.min && row.span.min !== 0))) this.setSpan(row, number);
    if (this.held !== number.name) row.range.value = number.text;
    row.value.textContent = number.text;
    row.unit.textContent = number.unit;
    row.element.classList.toggle("here", isHere);
    const isKept = this.kept.includes(number.name);
    row.pin.textContent = isKept ? "×" : "＋";
    row.pin.title = isKept ? "leave this slider out" : "keep this slider";
    row.pin.setAttribute("aria-label", row.pin.title);
  }

  private setSpan(row: Row, number: TextNumber): void {
    row.span = spanOf(number, this.schema);
    row.range.min = String(row.span.min);
    row.range.max = String(row.span.max);
    row.range.step = String(10 ** -row.span.digits);
  }

  private find(name: string): TextNumber | undefined {
    return this.host.numbers().find((number) => number.name === name);
  }

  private makeRow(number: TextNumber): Row {
    const { name } = number;
    const range = make("input", "slider");
    range.type = "range";
    range.setAttribute("aria-label", name);
    const dot = Math.max(name.lastIndexOf("."), name.lastIndexOf(".", name.lastIndexOf(".") - 1));
    const label = makeButton("slider-name", make("span", "", make("span", "dim", name.slice(0, dot + 1)), name.slice(dot + 1)), `${name} (go there)`, () => {
      const current = this.find(name);
      if (current) this.host.goTo(current);
    });
    const pin = makeButton("tool", "", "", () => {
      this.kept = this.kept.includes(name) ? this.kept.filter((other) => other !== name) : [...this.kept, name];
      this.update();
    });
    const value = make("span", "value");
    const unit = make("span", "unit");
    const element = make("div", "slider-row", label, make("span", "slider-value", value, " ", unit), pin, range);
    element.dataset.number = name;
    const row: Row = { name, element, range, value, unit, pin, span: { min: 0, max: 0, digits: 0 } };
    this.setSpan(row, number);
    range.addEventListener("input", () => {
      this.held = name;
      const current = this.find(name);
      if (current) this.host.write(current, wordOf(Number(range.value), row.span.digits));
    });
    const release = () => {
      this.held = "";
      this.update();
    };
    for (const event of ["change", "blur"]) range.addEventListener(event, release);
    return row;
  }
}
