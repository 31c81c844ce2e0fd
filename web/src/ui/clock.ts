// clock.ts - the time that is shown: it plays, pauses, steps, jumps and loops.

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 50];

export class Clock {
  time: number; // [s] of the flight
  playing = false;
  loop = true;
  private speedIndex = SPEEDS.indexOf(1);
  private readonly listeners: (() => void)[] = [];

  constructor(readonly start: number, readonly end: number) {
    this.time = start;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  get speed(): number {
    return SPEEDS[this.speedIndex];
  }

  setSpeed(speed: number): void {
    const at = SPEEDS.indexOf(speed);
    if (at >= 0) this.speedIndex = at;
    this.changed();
  }

  faster(by: number): void {
    this.speedIndex = Math.max(0, Math.min(SPEEDS.length - 1, this.speedIndex + by));
    this.changed();
  }

  toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end) this.time = this.start;
    this.changed();
  }

  toggleLoop(): void {
    this.loop = !this.loop;
    this.changed();
  }

  seek(time: number): void {
    this.time = Math.max(this.start, Math.min(this.end, time));
    this.changed();
  }

  /// Go on by `seconds` of the viewer's time; never back.
  advance(seconds: number): void {
    if (!this.playing) return;
    this.time += Math.max(0, Math.min(seconds, 0.25)) * this.speed;
    if (this.time >= this.end) {
      this.time = this.loop ? this.start : this.end;
      this.playing = this.loop;
    }
    this.changed();
  }
}
