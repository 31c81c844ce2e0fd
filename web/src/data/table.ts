// table.ts - records of one stream as columns: times in seconds and one array per value. Nobody looks at most of a log: records are
// read when somebody asks for them first.

export class Table {
  private size = 0;
  private times = new Float64Array(0);
  private readonly index = new Map<string, number>();
  private columns: Float64Array[] = [];
  private putOff?: { count: number; read: () => void };

  /// There are `count` records; `read` adds their rows when they are needed.
  later(count: number, read: () => void): void {
    this.putOff = { count, read };
  }

  private settle(): void {
    if (!this.putOff) return;
    const { count, read } = this.putOff;
    this.putOff = undefined;
    this.resize(this.size + count);
    read();
  }

  /// There is no record.
  get empty(): boolean {
    return this.size === 0 && !this.putOff;
  }

  /// The column of that name, made when it is new (zeros before).
  columnIndex(name: string): number {
    let at = this.index.get(name);
    if (at === undefined) {
      at = this.columns.length;
      this.index.set(name, at);
      this.columns.push(new Float64Array(this.times.length));
    }
    return at;
  }

  /// Begin a row at `time`; set() fills it, what is not set is 0.
  beginRow(time: number): void {
    this.settle();
    if (this.size === this.times.length) this.resize(Math.max(256, 2 * this.times.length));
    this.times[this.size++] = time;
  }

  set(column: number, value: number): void {
    this.columns[column][this.size - 1] = value;
  }

  // Room for so many rows.
  private resize(capacity: number): void {
    const resized = (old: Float64Array) => {
      const next = new Float64Array(capacity);
      next.set(old.subarray(0, this.size));
      return next;
    };
    this.times = resized(this.times);
    this.columns = this.columns.map(resized);
  }

  get length(): number {
    this.settle();
    return this.size;
  }

  get time(): Float64Array {
    this.settle();
    return this.times.subarray(0, this.size);
  }

  get names(): string[] {
    this.settle(); // lists have a column for each item that is met
    return [...this.index.keys()];
  }

  column(name: string): Float64Array | undefined {
    this.settle();
    const at = this.index.get(name);
    return at === undefined ? undefined : this.columns[at].subarray(0, this.size);
  }

  /// Columns x, y, z (and w first for attitudes) of a vector, or undefined.
  vector(name: string, parts: string): Float64Array[] | undefined {
    const columns = [...parts].map((part) => this.column(`${name}.${part}`));
    return columns.every((c) => c !== undefined) ? (columns as Float64Array[]) : undefined;
  }

  /// Columns name[0], name[1], ...
  list(name: string): Float64Array[] {
    const columns: Float64Array[] = [];
    for (let i = 0; ; ++i) {
      const column = this.column(`${name}[${i}]`);
      if (!column) return columns;
      columns.push(column);
    }
  }
}

/// Index of the last time at or before `t`; 0 before the first.
export function indexAt(times: Float64Array, t: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}
