// table.ts - records of one stream as columns: times in seconds and one array per value.

export class Table {
  private size = 0;
  private times = new Float64Array(256);
  private readonly index = new Map<string, number>();
  private columns: Float64Array[] = [];

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
    if (this.size === this.times.length) this.grow();
    this.times[this.size++] = time;
  }

  set(column: number, value: number): void {
    this.columns[column][this.size - 1] = value;
  }

  private grow(): void {
    const wider = (old: Float64Array) => {
      const next = new Float64Array(old.length * 2);
      next.set(old);
      return next;
    };
    this.times = wider(this.times);
    this.columns = this.columns.map(wider);
  }

  get length(): number {
    return this.size;
  }

  get time(): Float64Array {
    return this.times.subarray(0, this.size);
  }

  get names(): string[] {
    return [...this.index.keys()];
  }

  column(name: string): Float64Array | undefined {
    const at = this.index.get(name);
    return at === undefined ? undefined : this.columns[at].subarray(0, this.size);
  }

  /// Columns x, y, z (and w first for attitudes) of a vector, or undefined.
  vector(name: string, parts: string): Float64Array[] | undefined {
    const found = [...parts].map((part) => this.column(`${name}.${part}`));
    return found.every((c) => c !== undefined) ? (found as Float64Array[]) : undefined;
  }

  /// Columns name[0], name[1], ...
  list(name: string): Float64Array[] {
    const found: Float64Array[] = [];
    for (let i = 0; ; ++i) {
      const column = this.column(`${name}[${i}]`);
      if (!column) return found;
      found.push(column);
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
