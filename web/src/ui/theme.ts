// theme.ts - light and dark, and the colours of lines and bodies. The palette is Okabe and Ito's, chosen so that people
// with any kind of colour vision can tell its colours apart; lines differ by dashes as well.

export type ThemeName = "light" | "dark";

export interface Theme {
  name: ThemeName;
  lines: string[];
  runs: [string, string]; // A and B: none of the colours of x, y and z
  estimate: string; // what a drone believes
  text: string;
  faint: string;
  grid: string;
  sky: string; // at the horizon
  zenith: string;
  ground: string;
  groundLine: string;
  groundLineStrong: string;
  stone: string; // of obstacles
  crate: string; // of bodies that are no drones
  earth: string; // of ground that has a shape
  shadow: number; // opacity
  body: string; // the frame of a drone, tinted by the drone's colour
}

const light: Theme = {
  name: "light",
  lines: ["#d55e00", "#009e73", "#0072b2", "#cc79a7", "#b07d00", "#3a9bd9", "#555555", "#8a6d3b"],
  runs: ["#7a3fb8", "#a5721a"],
  estimate: "#c2387f",
  text: "#1c2733",
  faint: "#66727e",
  grid: "#e3e8ec",
  sky: "#eef2f5",
  zenith: "#b9cfe2",
  ground: "#e4e9ed",
  groundLine: "#cfd7de",
  groundLineStrong: "#aab6c0",
  stone: "#b3bfca",
  crate: "#b98a5a",
  earth: "#ccd6cf",
  shadow: 0.28,
  body: "#93a0ab",
};

const dark: Theme = {
  name: "dark",
  lines: ["#ff8b3d", "#35c79a", "#5db4f0", "#e59bc4", "#e6b32e", "#8fd3ff", "#b4bdc6", "#c9a66b"],
  runs: ["#b58cf0", "#e0b04c"],
  estimate: "#ff7fbd",
  text: "#dfe6ec",
  faint: "#8a97a3",
  grid: "#26303a",
  sky: "#161d24",
  zenith: "#0a0e12",
  ground: "#171f27",
  groundLine: "#2a3540",
  groundLineStrong: "#44525f",
  stone: "#4d5b68",
  crate: "#a37a4e",
  earth: "#2f3d38",
  shadow: 0.55,
  body: "#a9b4be",
};

const STORAGE_KEY = "volery-theme";

function storedTheme(): ThemeName | undefined {
  try {
    const name = localStorage.getItem(STORAGE_KEY);
    return name === "light" || name === "dark" ? name : undefined;
  } catch {
    return undefined; // a page from disk may have no storage
  }
}

let current: Theme = (storedTheme() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark" ? dark : light;
const listeners: ((theme: Theme) => void)[] = [];

export function theme(): Theme {
  return current;
}

export function onTheme(listener: (theme: Theme) => void): void {
  listeners.push(listener);
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = current.name;
}

export function toggleTheme(): void {
  current = current === light ? dark : light;
  try {
    localStorage.setItem(STORAGE_KEY, current.name);
  } catch {
    // then it holds until the page is closed
  }
  applyTheme();
  for (const listener of listeners) listener(current);
}
