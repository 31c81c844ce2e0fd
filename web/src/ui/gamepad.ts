// gamepad.ts - the sticks of a gamepad as a pilot's device has them: (yaw vertical strafe forward), in percent.

const DEAD_ZONE = 0.08; // of an axis
const MESSAGE_INTERVAL = 50; // [ms] between two messages
const REPEAT_AFTER = 200; // [ms] after which the same is said again: sticks hold for half a second

export class Gamepad {
  private sent = "";
  private at = -Infinity; // [ms]

  /// What to say now, if anything: the first gamepad's sticks, left for yaw and climb, right for the way.
  read(now: number): string | undefined {
    const pad = [...(navigator.getGamepads?.() ?? [])].find((gamepad) => gamepad?.connected);
    if (!pad || pad.axes.length < 4) return undefined;
    const percent = (axis: number, sign: number) => (Math.abs(axis) > DEAD_ZONE ? Math.round(Math.max(-1, Math.min(1, axis)) * 100) * sign : 0) || 0;
    const [yaw, vertical, strafe, forward] = [percent(pad.axes[0], 1), percent(pad.axes[1], -1), percent(pad.axes[2], 1), percent(pad.axes[3], -1)];
    const sticks = `(${yaw} ${vertical} ${strafe} ${forward})`;
    const unchanged = sticks === this.sent;
    if (now - this.at < (unchanged ? REPEAT_AFTER : MESSAGE_INTERVAL) || (unchanged && sticks === "(0 0 0 0)")) return undefined;
    this.sent = sticks;
    this.at = now;
    return sticks;
  }
}
