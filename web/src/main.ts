// main.ts - reads what is in the page and puts it on the screen.
import { readInfo, readLog, type PageInfo } from "./data/embedded";
import { readRun, type Run } from "./data/run";
import { App } from "./app";
import { applyTheme } from "./ui/theme";
import { showMessage, wordsOf } from "./ui/message";

async function readRuns(info: PageInfo): Promise<Run[]> {
  const runs: Run[] = [];
  for (let i = 0; i < info.runs.length; ++i) {
    const file = await readLog(i);
    try {
      runs.push(readRun(i, info.runs.length > 1, info.runs[i], file, info.live));
    } catch (error) {
      throw new Error(`${info.runs[i].file} cannot be shown: ${wordsOf(error)}`);
    }
  }
  return runs;
}

async function start(): Promise<void> {
  applyTheme();
  try {
    showMessage("Volery", "Reading the flight …");
    const info = readInfo();
    const app = new App(info, await readRuns(info));
    app.start();
    // For the console and for tests: what is shown, as it was read.
    (window as unknown as { volery: App }).volery = app;
  } catch (error) {
    showMessage("This flight cannot be shown", wordsOf(error));
    document.documentElement.dataset.state = "failed";
  }
}

void start();
