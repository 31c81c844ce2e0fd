// frame.ts - how much there is to see, and where a camera must stand to see all of it.
import { Box3, Vector3 } from "three";
import type { Craft } from "./fleet";

export interface Extent {
  box: Box3; // of all flights
  reach: number; // [m] largest side, at least a few body sizes
}

const FAR_MAX = 1e12; // [m]
const MARGIN = 1.06;

export function extentOf(crafts: Craft[]): Extent {
  const box = new Box3();
  for (const craft of crafts) {
    craft.motion.position.forEach((values, k) => {
      let [min, max] = [box.min.getComponent(k), box.max.getComponent(k)];
      for (const value of values) {
        if (value < min) min = value;
        if (value > max && value < Infinity) max = value;
      }
      box.min.setComponent(k, Math.max(min, -FAR_MAX));
      box.max.setComponent(k, Math.min(max, FAR_MAX));
    });
  }
  const size = Math.max(...crafts.map((craft) => craft.shape.size));
  const sides = box.getSize(new Vector3());
  return { box, reach: Math.max(sides.x, sides.y, sides.z, 6 * size) };
}

/// Distance from the middle of `box` at which a camera that looks at it from `direction` has every corner in its picture.
/// `fov` is the vertical angle [rad], `aspect` width over height.
export function fitDistance(box: Box3, direction: Vector3, fov: number, aspect: number): number {
  const back = direction.clone().normalize();
  const right = new Vector3(0, 0, 1).cross(back);
  if (right.lengthSq() < 1e-12) right.set(1, 0, 0); // from straight above
  right.normalize();
  const up = back.clone().cross(right);
  const [tanY, tanX] = [Math.tan(fov / 2), Math.tan(fov / 2) * aspect];
  const middle = box.getCenter(new Vector3());
  let distance = 0;
  for (let i = 0; i < 8; ++i) {
    const corner = new Vector3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(middle);
    const near = corner.dot(back);
    distance = Math.max(distance, near + Math.abs(corner.dot(right)) / tanX, near + Math.abs(corner.dot(up)) / tanY);
  }
  return MARGIN * distance;
}
