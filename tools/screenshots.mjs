// shots.mjs FOLDER IMAGES - the pictures of the README and docs, taken from pages that screenshots.sh made.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [folder, images] = process.argv.slice(2);
const { chromium } = createRequire(join(folder, "node_modules", "x.js"))("playwright-core");
const profile = mkdtempSync(join(tmpdir(), "volery-shots-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

async function take(name, file, { width = 1280, height = 720, scheme = "light", time = 0, act = async () => {} }) {
  const page = await browser.newPage();
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  await page.goto(`file://${join(folder, file)}`);
  await page.waitForFunction(() => document.documentElement.dataset.state === "ready", null, { timeout: 60000 });
  await act(page);
  await page.evaluate((t) => window.volery.clock.seek(t), time);
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(images, `${name}.png`) });
  await page.close();
}

await take("view", "flight.html", {
  time: 12.35,
  act: async (page) => {
    await page.keyboard.press("c");
    await page.keyboard.press("f");
    await page.click(".layer-box summary");
  },
});
await take("view-dark", "swarm.html", { scheme: "dark", time: 6.4 });
await take("view-compare", "both.html", { time: 12.45 });
await take("view-gate", "gate.html", {
  time: 3.477,
  act: async (page) => {
    await page.keyboard.press("n");
    await page.keyboard.press("c");
    await page.keyboard.press("e");
  },
});
await take("view-phone", "flight.html", { width: 390, height: 780, time: 8.2 });
await take("playground", "playground.html", { width: 1440, height: 810, time: 12.35 });
await browser.close();
rmSync(profile, { recursive: true, force: true });
