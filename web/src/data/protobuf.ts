// protobuf.ts - protobuf messages of numbers into rows of a table, by the description that travels in the log. So a
// stream that is added to the log is a stream of the page.
import { Table } from "./table";

const enum Wire { Varint = 0, Eight = 1, Data = 2, Four = 5 }
const enum Type { Double = 1, Float = 2, Fixed64 = 6, Message = 11, Sfixed64 = 16 }

interface Field {
  name: string;
  number: number;
  type: number;
  repeated: boolean;
  typeName: string;
}

interface Item {
  number: number;
  wire: number;
  value: number; // of a varint
  start: number; // of the bytes
  end: number;
}

/// Walks over the fields of a message.
function* items(view: DataView, start: number, end: number): Generator<Item> {
  let at = start;
  const varint = () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (at >= end) throw new Error("a message is cut off");
      const byte = view.getUint8(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  };
  while (at < end) {
    const tag = varint();
    const item: Item = { number: Math.floor(tag / 8), wire: tag % 8, value: 0, start: at, end: at };
    if (item.wire === Wire.Varint) {
      item.value = varint();
    } else {
      const size = item.wire === Wire.Eight ? 8 : item.wire === Wire.Four ? 4 : item.wire === Wire.Data ? varint() : -1;
      if (size < 0 || at + size > end) throw new Error("a message is damaged");
      item.start = at;
      at += size;
    }
    item.end = at;
    yield item;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/// All message types of a FileDescriptorSet, by full name with a leading dot.
function readDescriptors(bytes: Uint8Array): Map<string, Field[]> {
  const view = viewOf(bytes);
  const text = (item: Item) => new TextDecoder().decode(bytes.subarray(item.start, item.end));
  const found = new Map<string, Field[]>();

  const readField = (start: number, end: number): Field => {
    const field: Field = { name: "", number: 0, type: 0, repeated: false, typeName: "" };
    for (const item of items(view, start, end)) {
      if (item.number === 1) field.name = text(item);
      if (item.number === 3) field.number = item.value;
      if (item.number === 4) field.repeated = item.value === 3;
      if (item.number === 5) field.type = item.value;
      if (item.number === 6) field.typeName = text(item);
    }
    return field;
  };
  const readMessage = (start: number, end: number, prefix: string): void => {
    let name = "";
    const fields: Field[] = [];
    const nested: Item[] = [];
    for (const item of items(view, start, end)) {
      if (item.number === 1) name = text(item);
      if (item.number === 2) fields.push(readField(item.start, item.end));
      if (item.number === 3) nested.push(item);
    }
    found.set(`${prefix}.${name}`, fields);
    for (const item of nested) readMessage(item.start, item.end, `${prefix}.${name}`);
  };
  for (const file of items(view, 0, bytes.length)) {
    let prefix = "";
    const messages: Item[] = [];
    for (const item of items(view, file.start, file.end)) {
      if (item.number === 2) prefix = `.${text(item)}`;
      if (item.number === 4) messages.push(item);
    }
    for (const item of messages) readMessage(item.start, item.end, prefix);
  }
  return found;
}

/// The whole number that a message has as its field `number`; -1: it has none.
export function wholeOf(bytes: Uint8Array, number: number): number {
  const view = viewOf(bytes);
  for (const item of items(view, 0, bytes.length)) {
    if (item.number === number) return numberOf(view, item, Type.Fixed64);
  }
  return -1;
}

/// The text that a message has as its field `number`; empty: it has none.
export function textOf(bytes: Uint8Array, number: number): string {
  for (const item of items(viewOf(bytes), 0, bytes.length)) {
    if (item.number === number && item.wire === Wire.Data) return new TextDecoder().decode(bytes.subarray(item.start, item.end));
  }
  return "";
}

/// What to do with each field of a message, by its number.
interface Step {
  name: string;
  type: number;
  repeated: boolean;
  inner?: Plan;
  column: number; // in the table; -1 until it is needed
  list: number[]; // columns of a list
}
type Plan = (Step | undefined)[];

const DEPTH_MAX = 8;

function planOf(types: Map<string, Field[]>, name: string, prefix: string, depth: number): Plan {
  const plan: Plan = [];
  for (const field of types.get(name) ?? []) {
    if (field.number < 1 || field.number > 4096 || depth > DEPTH_MAX) continue;
    const path = prefix + field.name;
    plan[field.number] = {
      name: path,
      type: field.type,
      repeated: field.repeated,
      inner: field.type === Type.Message && !field.repeated ? planOf(types, field.typeName, `${path}.`, depth + 1) : undefined,
      column: -1,
      list: [],
    };
  }
  return plan;
}

/// Reads messages of one type into a table.
export class RowReader {
  private readonly plan: Plan;

  constructor(schema: Uint8Array, type: string, private readonly table: Table) {
    this.plan = planOf(readDescriptors(schema), `.${type}`, "", 0);
    this.declare(this.plan);
  }

  // Columns in the order of the description; lists come as they are met.
  private declare(plan: Plan): void {
    for (const step of plan) {
      if (!step) continue;
      if (step.inner) this.declare(step.inner);
      else if (!step.repeated && step.type !== Type.Message) step.column = this.table.columnIndex(step.name);
    }
  }

  read(time: number, bytes: Uint8Array): void {
    this.table.beginRow(time);
    this.readInto(viewOf(bytes), 0, bytes.length, this.plan);
  }

  private readInto(view: DataView, start: number, end: number, plan: Plan): void {
    for (const item of items(view, start, end)) {
      const step = plan[item.number];
      if (!step) continue;
      if (step.inner) {
        if (item.wire === Wire.Data) this.readInto(view, item.start, item.end, step.inner);
      } else if (step.repeated) {
        if (item.wire === Wire.Data && step.type === Type.Double) this.readList(view, item, step);
      } else if (step.column >= 0) {
        this.table.set(step.column, numberOf(view, item, step.type));
      }
    }
  }

  private readList(view: DataView, item: Item, step: Step): void {
    const count = Math.min((item.end - item.start) >> 3, 64);
    for (let i = 0; i < count; ++i) {
      if (i === step.list.length) step.list.push(this.table.columnIndex(`${step.name}[${i}]`));
      this.table.set(step.list[i], view.getFloat64(item.start + 8 * i, true));
    }
  }
}

function numberOf(view: DataView, item: Item, type: number): number {
  if (item.wire === Wire.Varint) return item.value;
  if (item.wire === Wire.Four) return type === Type.Float ? view.getFloat32(item.start, true) : view.getUint32(item.start, true);
  if (item.wire === Wire.Eight && type === Type.Double) return view.getFloat64(item.start, true);
  if (item.wire === Wire.Eight) return Number(type === Type.Sfixed64 ? view.getBigInt64(item.start, true) : view.getBigUint64(item.start, true));
  return 0;
}
