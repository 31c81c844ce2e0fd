// mcap.ts - walks over the records of a log whose chunks are not compressed. @mcap/core reads what describes the log; it would copy each
// message into an object, and of those there may be a million.
import { McapStreamReader, MCAP_MAGIC, Opcode, type McapTypes } from "@mcap/core";

const RECORD_HEAD = 9; // bytes of a record before its content: opcode, length
const CHUNK_HEAD = 8 + 8 + 8 + 4; // times, size, checksum
const MESSAGE_HEAD = 2 + 4 + 8 + 8; // channel, number, times

export interface LogVisitor {
  schema(schema: McapTypes.Schema): void;
  channel(channel: McapTypes.Channel): void;
  /// A message at `time` [s], from `start` to `end` of the file.
  message(channel: number, time: number, start: number, end: number): void;
}

/// Tell of all schemas, channels and messages in their order. The checksums are not looked at: what packed the file has its own.
export function walkLog(file: Uint8Array, visitor: LogVisitor): void {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const readUint64 = (offset: number) => view.getUint32(offset, true) + view.getUint32(offset + 4, true) * 2 ** 32;
  const reader = new McapStreamReader();
  reader.append(file.subarray(0, MCAP_MAGIC.length));

  const describe = (start: number, end: number) => {
    reader.append(file.subarray(start, end));
    const record = reader.nextRecord();
    if (record?.type === "Schema") visitor.schema(record);
    if (record?.type === "Channel") visitor.channel(record);
  };
  const walk = (from: number, to: number) => {
    for (let offset = from; offset < to; ) {
      const content = offset + RECORD_HEAD;
      const end = content <= to ? content + readUint64(offset + 1) : Infinity;
      if (end > to) throw new Error("its records are cut off");
      const opcode = view.getUint8(offset);
      if (opcode === Opcode.MESSAGE) {
        visitor.message(view.getUint16(content, true), readUint64(content + 6) / 1e9, content + MESSAGE_HEAD, end);
      } else if (opcode === Opcode.CHUNK) {
        const records = content + CHUNK_HEAD + 4 + view.getUint32(content + CHUNK_HEAD, true) + 8;
        if (view.getUint32(content + CHUNK_HEAD, true) > 0) throw new Error("its chunks are compressed");
        walk(records, end);
      } else if (opcode === Opcode.SCHEMA || opcode === Opcode.CHANNEL) {
        describe(offset, end);
      } else if (opcode === Opcode.DATA_END) {
        return; // what follows is said again
      }
      offset = end;
    }
  };
  walk(MCAP_MAGIC.length, file.length);
}
