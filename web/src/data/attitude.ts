// attitude.ts - quaternions (w, x, y, z) as the log has them, and angles for people.

const DEGREES = 180 / Math.PI;

/// Roll, pitch and heading [deg] as pilots read them: forward-right-down axes in north-east-down, in the order yaw,
/// pitch, roll. World x is east and y is north.
export function pilotAngles(w: number, x: number, y: number, z: number): [number, number, number] {
  const roll = Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
  const down = Math.max(-1, Math.min(1, 2 * (w * y - z * x)));
  const yaw = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  return [roll * DEGREES, -Math.asin(down) * DEGREES, 90 - yaw * DEGREES];
}

/// Rotate a body vector into the world.
export function rotate(q: ArrayLike<number>, v: ArrayLike<number>): [number, number, number] {
  const [w, x, y, z] = [q[0], q[1], q[2], q[3]];
  const tx = 2 * (y * v[2] - z * v[1]);
  const ty = 2 * (z * v[0] - x * v[2]);
  const tz = 2 * (x * v[1] - y * v[0]);
  return [v[0] + w * tx + (y * tz - z * ty), v[1] + w * ty + (z * tx - x * tz), v[2] + w * tz + (x * ty - y * tx)];
}

/// From yaw, pitch, roll [rad] of forward-right-down in north-east-down to q of forward-left-up in east-north-up.
export function fromPilotAngles(yaw: number, pitch: number, roll: number): [number, number, number, number] {
  const [a, b, c] = [(Math.PI / 2 - yaw) / 2, -pitch / 2, roll / 2];
  const [ca, sa, cb, sb, cc, sc] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b), Math.cos(c), Math.sin(c)];
  return [ca * cb * cc + sa * sb * sc, ca * cb * sc - sa * sb * cc, ca * sb * cc + sa * cb * sc, sa * cb * cc - ca * sb * sc];
}
