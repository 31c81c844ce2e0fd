// palette.ts - the colours of drones, and of values along a trail.
import { Color } from "three";
import type { Drone } from "../data/run";
import type { Theme } from "../ui/theme";

const GOLDEN_RATIO = 0.618034; // of a turn from one hue to the next: neighbours differ, and no two of many are the same

/// A colour of its own for each of several drones; of two runs, and of a single drone, the run's.
export function colorOfCraft(drone: Drone, theme: Theme): Color {
  const { run } = drone;
  if (drone.index >= run.info.drones.length) return new Color(theme.crate);
  if (run.compared || run.info.drones.length <= 1) return new Color(theme.runs[run.index]);
  return new Color().setHSL((0.76 + GOLDEN_RATIO * drone.index) % 1, 0.62, theme.name === "dark" ? 0.62 : 0.44);
}

// Viridis, at five places: it is as good in grey, and for any kind of colour vision.
const RAMP = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"].map((text) => new Color(text));
export const RAMP_CSS = "linear-gradient(to right, #440154, #3b528b, #21918c, #5ec962, #fde725)";

/// 0 to 1 as a colour.
export function colorOfShare(share: number): Color {
  const at = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * (RAMP.length - 1);
  const i = Math.min(Math.floor(at), RAMP.length - 2);
  return RAMP[i].clone().lerp(RAMP[i + 1], at - i);
}
