// firefox_page.mjs - Firefox under Xvfb, with WebGL by software, driven by puppeteer-core over WebDriver BiDi.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const SETTINGS = {
  "webgl.force-enabled": true,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "app.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "ui.prefersReducedMotion": 1,
};

/// Start it with a profile of its own; `packages` has the node_modules of firefox.lock. What the page asks for and says on the console is
/// told to `request(url)` and `said(text)`. close() ends all that was started.
export async function startFirefox(packages, { request, said }) {
  // The package's entry also fetches browsers, with sixty more packages; this is the part that drives one.
  const driver = join(resolve(packages), "node_modules/puppeteer-core/lib/cjs/puppeteer/puppeteer-core-browser.js");
  const puppeteer = createRequire(driver)(driver).default;
  const profile = mkdtempSync(join(tmpdir(), "volery-firefox-"));
  writeFileSync(join(profile, "user.js"), Object.entries(SETTINGS).map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${value});\n`).join(""));
  const firefox = spawn("xvfb-run", ["-a", "-s", "-screen 0 1280x800x24", "firefox-esr", "--profile", profile, "--remote-debugging-port", "0", "--no-remote"], { stdio: ["ignore", "ignore", "pipe"], detached: true });
  const end = () => {
    try {
      process.kill(-firefox.pid, "SIGKILL"); // Xvfb and what Firefox has started
    } catch {
      // they have ended
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  try {
    let told = "";
    const address = await new Promise((found, fail) => {
      firefox.stderr.on("data", (data) => (told += data) && /BiDi listening on ws:\S+/.test(told) && found(told.match(/ws:\S+/)[0]));
      firefox.on("exit", () => fail(new Error(`Firefox does not start: ${told}`)));
    });
    const browser = await puppeteer.connect({ browserWSEndpoint: `${address}/session`, protocol: "webDriverBiDi", defaultViewport: { width: 1280, height: 720 }, protocolTimeout: 600000 });
    const page = (await browser.pages())[0] ?? (await browser.newPage());
    page.setDefaultTimeout(600000); // a busy machine is not a fault
    page.on("request", (asked) => request(asked.url()));
    page.on("console", (message) => message.type() === "error" && said(message.text()));
    page.on("pageerror", (error) => said(error.message));
    return { page, version: await browser.version(), close: async () => (await browser.close().catch(() => undefined), end()) };
  } catch (error) {
    end();
    throw error;
  }
}

/// How many colours a canvas of the page has, seen from far: more than some, and something is drawn.
export const colorsOf = (page, selector) =>
  page.evaluate((what) => {
    window.volery.view.draw(window.volery.clock.time); // what was drawn before is gone by now
    const canvas = document.querySelector(what);
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [64, 64];
    const context = copy.getContext("2d");
    context.drawImage(canvas, 0, 0, 64, 64);
    return new Set(new Uint32Array(context.getImageData(0, 0, 64, 64).data.buffer)).size;
  }, selector);
