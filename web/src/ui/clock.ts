// clock.ts - the time that is shown: it plays, pauses, steps, jumps and loops, or follows a flight that is under way.

const SMOOTHING_TIME = 0.1; // [s] within which records of a flight that is under way are smoothed
const NEAR_END = 0.25; // [s] before the end is the end, of a flight that is under way

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 50];

export class Clock {
  time: number; // [s] of the flight
  playing = false;
  loop = true;
  live = false; // the flight is under way: its end moves
  follows = false; // that end
  private speedIndex = SPEEDS.indexOf(1);
  private readonly listeners: (() => void)[] = [];

  constructor(public start: number, public end: number) {
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

  /// Look at what happens now.
  follow(): void {
    this.live = this.follows = this.playing = true;
    this.changed();
  }

  /// Another flight: the time that is shown stays, as far as the flight goes.
  setSpan(start: number, end: number): void {
    [this.start, this.end] = [start, end];
    this.time = Math.max(start, Math.min(end, this.time));
    this.changed();
  }

  toggle(): void {
    this.playing = !this.playing;
    this.follows = this.live && this.playing && this.time >= this.end - NEAR_END;
    if (this.playing && !this.follows && this.time >= this.end) this.time = this.start;
    this.changed();
  }

  toggleLoop(): void {
    this.loop = !this.loop;
    this.changed();
  }

  seek(time: number): void {
    this.follows = false;
    this.time = Math.max(this.start, Math.min(this.end, time));
    this.changed();
  }

  /// Go on by `seconds` of the viewer's time; never back.
  advance(seconds: number): void {
    if (!this.playing) return;
    if (this.follows) {
      const left = this.end - this.time;
      if (left === 0) return; // it stands
      this.time = left < 1e-4 ? this.end : this.time + left * Math.min(1, Math.max(0, seconds) / SMOOTHING_TIME);
      this.changed();
      return;
    }
    this.time += Math.max(0, Math.min(seconds, 0.25)) * this.speed;
    if (this.time >= this.end && this.live) {
      this.time = this.end;
      this.follows = true;
    } else if (this.time >= this.end) {
      this.time = this.loop ? this.start : this.end;
      this.playing = this.loop;
    }
    this.changed();
  }
}
