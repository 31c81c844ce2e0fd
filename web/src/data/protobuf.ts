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

/// Walks over the fields of messages: one object for all of them, since a log has millions.
class Walker {
  number = 0; // of the field
  wire = 0;
  value = 0; // of a varint
  start = 0; // of the bytes
  stop = 0;
  private at = 0;
  private end = 0;
  view: DataView = new DataView(new ArrayBuffer(0));

  /// Begin with the message from `start` to `end`.
  enter(view: DataView, start: number, end: number): this {
    this.view = view;
    this.at = start;
    this.end = end;
    return this;
  }

  /// Walk over the field that was met last as a message of its own, then go on behind it.
  within(walk: () => void): void {
    const { stop, end } = this;
    this.at = this.start;
    this.end = stop;
    walk();
    this.at = stop;
    this.end = end;
  }

  private varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      if (this.at >= this.end) throw new Error("a message is cut off");
      const byte = this.view.getUint8(this.at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  /// The next field; false: there is none.
  next(): boolean {
    if (this.at >= this.end) return false;
    const tag = this.varint();
    this.number = Math.floor(tag / 8);
    this.wire = tag % 8;
    this.start = this.at;
    if (this.wire === Wire.Varint) {
      this.value = this.varint();
    } else {
      const size = this.wire === Wire.Eight ? 8 : this.wire === Wire.Four ? 4 : this.wire === Wire.Data ? this.varint() : -1;
      if (size < 0 || this.at + size > this.end) throw new Error("a message is damaged");
      this.start = this.at;
      this.at += size;
    }
    this.stop = this.at;
    return true;
  }

  numberOf(type: number): number {
    const { view, start, wire } = this;
    if (wire === Wire.Varint) return this.value;
    if (wire === Wire.Four) return type === Type.Float ? view.getFloat32(start, true) : view.getUint32(start, true);
    if (wire === Wire.Eight && type === Type.Double) return view.getFloat64(start, true);
    if (wire === Wire.Eight) return Number(type === Type.Sfixed64 ? view.getBigInt64(start, true) : view.getBigUint64(start, true));
    return 0;
  }

  text(): string {
    const { buffer, byteOffset } = this.view;
    return new TextDecoder().decode(new Uint8Array(buffer, byteOffset + this.start, this.stop - this.start));
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/// All message types of a FileDescriptorSet, by full name with a leading dot.
function readDescriptors(bytes: Uint8Array): Map<string, Field[]> {
  const view = viewOf(bytes);
  const types = new Map<string, Field[]>();

  const readField = (field: Walker): Field => {
    const result: Field = { name: "", number: 0, type: 0, repeated: false, typeName: "" };
    while (field.next()) {
      if (field.number === 1) result.name = field.text();
      if (field.number === 3) result.number = field.value;
      if (field.number === 4) result.repeated = field.value === 3;
      if (field.number === 5) result.type = field.value;
      if (field.number === 6) result.typeName = field.text();
    }
    return result;
  };
  const readMessage = ([start, stop]: [number, number], prefix: string): void => {
    let name = "";
    const fields: Field[] = [];
    const nested: [number, number][] = [];
    const message = new Walker().enter(view, start, stop);
    while (message.next()) {
      if (message.number === 1) name = message.text();
      if (message.number === 2) message.within(() => fields.push(readField(message)));
      if (message.number === 3) nested.push([message.start, message.stop]);
    }
    types.set(`${prefix}.${name}`, fields);
    for (const part of nested) readMessage(part, `${prefix}.${name}`);
  };
  const files = new Walker().enter(view, 0, bytes.length);
  while (files.next()) {
    let prefix = "";
    const messages: [number, number][] = [];
    const file = new Walker().enter(view, files.start, files.stop);
    while (file.next()) {
      if (file.number === 2) prefix = `.${file.text()}`;
      if (file.number === 4) messages.push([file.start, file.stop]);
    }
    for (const part of messages) readMessage(part, prefix);
  }
  return types;
}

// Channels share their schemas.
const typesBySchema = new WeakMap<Uint8Array, Map<string, Field[]>>();
function typesOf(schema: Uint8Array): Map<string, Field[]> {
  let types = typesBySchema.get(schema);
  if (!types) typesBySchema.set(schema, (types = readDescriptors(schema)));
  return types;
}

/// The whole number that a message has as its field `number`; -1: it has none.
export function wholeOf(bytes: Uint8Array, number: number): number {
  const fields = new Walker().enter(viewOf(bytes), 0, bytes.length);
  while (fields.next()) if (fields.number === number) return fields.numberOf(Type.Fixed64);
  return -1;
}

/// The text that a message has as its field `number`; empty: it has none.
export function textOf(bytes: Uint8Array, number: number): string {
  const fields = new Walker().enter(viewOf(bytes), 0, bytes.length);
  while (fields.next()) if (fields.number === number && fields.wire === Wire.Data) return fields.text();
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
  private readonly fields = new Walker();

  constructor(schema: Uint8Array, type: string, private readonly table: Table) {
    this.plan = planOf(typesOf(schema), `.${type}`, "", 0);
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
    this.readAt(time, viewOf(bytes), 0, bytes.length);
  }

  /// The message from `start` to `end` of a file.
  readAt(time: number, view: DataView, start: number, end: number): void {
    this.table.beginRow(time);
    this.fields.enter(view, start, end);
    this.readInto(this.plan);
  }

  private readInto(plan: Plan): void {
    const { fields, table } = this;
    while (fields.next()) {
      const step = plan[fields.number];
      if (!step) continue;
      const { inner } = step;
      if (inner) {
        if (fields.wire === Wire.Data) fields.within(() => this.readInto(inner));
      } else if (step.repeated) {
        if (fields.wire === Wire.Data && step.type === Type.Double) this.readList(step);
      } else if (step.column >= 0) {
        table.set(step.column, fields.numberOf(step.type));
      }
    }
  }

  private readList(step: Step): void {
    const { view, start, stop } = this.fields;
    const count = Math.min((stop - start) >> 3, 64);
    for (let i = 0; i < count; ++i) {
      if (i === step.list.length) step.list.push(this.table.columnIndex(`${step.name}[${i}]`));
      this.table.set(step.list[i], view.getFloat64(start + 8 * i, true));
    }
  }
}
