// main.ts - the playground: a scenario that can be edited, flown again at every change, beside scene and plots of the flight.
import { App } from "../app";
import type { PageInfo } from "../data/embedded";
import { readRun } from "../data/run";
import { make, makeButton } from "../ui/dom";
import { wordsOf } from "../ui/message";
import { applyTheme, toggleTheme } from "../ui/theme";
import { Editor } from "./editor";
import { Engine, type Flight } from "./engine";
import { linkTo, readLink } from "./link";
import type { Diagnostic } from "./messages";
import { Schema } from "./schema";
import { pathOf, scenarioNames, shipped } from "./shipped";
import { Sliders } from "./sliders";

const TYPING_PAUSE = 250; // [ms] of rest after which a typed text is flown
const LINKING_PAUSE = 400; // [ms] of rest after which the address follows
const LONG_FLIGHT = 400; // [ms] after which a flight is said to be under way
const FIRST_SCENARIO = "first-flight";
const TITLE = "Volery playground";

class Playground {
  app?: App;
  flight?: Flight; // the last that was flown
  last?: Flight; // the last that was tried
  readonly engine: Engine;
  readonly editor: Editor;
  readonly sliders: Sliders;
  name = FIRST_SCENARIO;
  private readonly select = make("select", "scenario-select");
  private readonly chip = make("span", "chip", "starting …");
  private readonly hash: HTMLButtonElement;
  private readonly took = make("span", "took");
  private readonly problems = make("div", "problems");
  private readonly stopButton = makeButton("tool text", "stop", "end this flight", () => this.stop());
  private readonly linkButton = makeButton("tool text", "copy link", "copy a link that holds this scenario", () => void this.copyLink());
  private readonly logButton = makeButton("tool text", "log ↓", "download the flight's log (MCAP)", () => this.download());
  private typing = 0;
  private linking = 0;
  private longFlight = 0;
  private opened = ""; // the text as it was opened

  constructor(root: HTMLElement) {
    this.hash = makeButton("final-hash", "", "hash of the last state, the same as the command's on any machine: copy it", () => void this.copy(this.flight?.outcome.final_hash ?? "", this.hash));
    const text = make("div", "editor");
    this.editor = new Editor(text, { changed: (bySlider) => this.changed(bySlider), moved: () => this.sliders.update() });
    this.sliders = new Sliders({
      numbers: () => this.editor.numbers(),
      cursor: () => this.editor.cursor,
      write: (number, value) => this.editor.write(number, value),
      goTo: (number) => this.editor.goTo(number.from),
    });
    this.problems.setAttribute("role", "status");
    const edit = make("section", "edit", this.sliders.element, text, this.problems);
    root.prepend(this.makeHeader(), edit);
    this.engine = new Engine({
      started: (schema) => this.started(schema),
      begun: () => this.begun(),
      flown: (flight) => this.flown(flight),
      broken: (words) => this.broken(words),
    });
    window.addEventListener("hashchange", () => void this.openLink());
  }

  /// A text waits, or flies.
  get busy(): boolean {
    return this.typing !== 0 || this.engine.busy;
  }

  private makeHeader(): HTMLElement {
    for (const name of scenarioNames()) {
      const option = make("option", "", name);
      option.value = name;
      this.select.append(option);
    }
    this.select.title = "scenario";
    this.select.setAttribute("aria-label", "scenario");
    this.select.addEventListener("change", () => {
      this.open(this.select.value, this.shippedText(this.select.value));
      this.select.blur();
    });
    this.stopButton.style.display = "none";
    const buttons = [this.linkButton, this.logButton, makeButton("tool text", "?", "keys (h)", () => this.app?.help.show()), makeButton("tool text", "◐", "light or dark (d)", toggleTheme)];
    return make("header", "top", make("span", "brand", "Volery"), make("h1", "", "playground"), this.select, this.chip, this.stopButton, this.hash, this.took, make("span", "space"), ...buttons);
  }

  private shippedText(name: string): string {
    return shipped().files[pathOf(name)] ?? "";
  }

  /// The scenario of the address, or the first one.
  async openLink(): Promise<void> {
    let linked: { name?: string; text?: string } = {};
    let problem = "";
    try {
      linked = await readLink(location.hash);
    } catch (error) {
      problem = wordsOf(error);
    }
    const isKnown = linked.name !== undefined && scenarioNames().includes(linked.name);
    if (linked.name !== undefined && !isKnown && linked.text === undefined) problem = `There is no scenario ${linked.name} here.`;
    const name = linked.text !== undefined && linked.name !== undefined && /^[\w/-]+$/.test(linked.name) ? linked.name : isKnown ? linked.name! : FIRST_SCENARIO;
    const text = linked.text ?? this.shippedText(name);
    if (this.name === name && this.opened !== "" && this.editor.text === text) return; // it is this page that wrote the address
    this.open(name, text);
    if (problem) this.tell([problem]);
  }

  private open(name: string, text: string): void {
    this.name = name;
    this.opened = text;
    this.select.value = scenarioNames().includes(name) ? name : "";
    this.editor.open(text);
    this.sliders.begin();
  }

  private started(schema: string): void {
    this.editor.schema = this.sliders.schema = new Schema(schema);
    this.sliders.begin();
  }

  private changed(bySlider: boolean): void {
    clearTimeout(this.typing);
    this.typing = 0;
    if (bySlider || this.flight?.path !== pathOf(this.name)) this.fly();
    else this.typing = window.setTimeout(() => this.fly(), TYPING_PAUSE);
    clearTimeout(this.linking);
    this.linking = window.setTimeout(() => void this.writeLink(), LINKING_PAUSE);
    this.sliders.update();
  }

  private fly(): void {
    this.typing = 0;
    this.engine.fly(pathOf(this.name), `${this.name.replace(/\//g, "-")}.mcap`, this.editor.text);
  }

  private begun(): void {
    clearTimeout(this.longFlight);
    this.longFlight = window.setTimeout(() => {
      this.setChip("flying …", "");
      this.stopButton.style.display = "";
    }, LONG_FLIGHT);
  }

  private ended(): void {
    clearTimeout(this.longFlight);
    this.stopButton.style.display = "none";
  }

  private stop(): void {
    this.engine.stop();
    this.ended();
    this.setChip("stopped", "bad");
  }

  private setChip(word: string, kind: string): void {
    this.chip.textContent = word;
    this.chip.className = `chip ${kind}`;
  }

  private flown(flight: Flight): void {
    const { outcome, path, messages } = flight;
    this.last = flight;
    this.ended();
    if (this.editor.text === flight.text) this.editor.mark(path, outcome.errors, outcome.warnings);
    if (!outcome.flown || !outcome.run || !flight.log) {
      this.setChip("not flown", "bad");
      this.tellDiagnostics(path, outcome.errors, messages.length > 0 ? messages : [outcome.error ?? "It was not flown."]);
      document.documentElement.dataset.flown = "no";
      return;
    }
    try {
      this.show(flight, { volery: outcome.run.version, runs: [outcome.run] });
    } catch (error) {
      this.broken(`the flight cannot be shown: ${wordsOf(error)}`);
      return;
    }
    this.flight = flight;
    this.setChip(outcome.outcome ?? "", outcome.outcome === "completed" ? "good" : "bad");
    this.chip.title = outcome.reason ?? "";
    this.hash.textContent = outcome.final_hash ?? "";
    this.took.textContent = `flown in ${Math.round(flight.ms)} ms`;
    const words = outcome.reason ? [outcome.reason] : [];
    this.tellDiagnostics(path, outcome.warnings, [...words, ...messages.filter((line) => line.startsWith("volery "))]);
    document.documentElement.dataset.flown = String(Number(document.documentElement.dataset.flown ?? 0) + 1 || 1);
  }

  private show(flight: Flight, info: PageInfo): void {
    const runs = [readRun(0, false, info.runs[0], flight.log!)];
    document.title = `${info.runs[0].name ?? this.name} – ${TITLE}`;
    if (this.app) {
      const isOtherScenario = this.flight?.path !== flight.path;
      this.app.replace(info, runs);
      if (isOtherScenario) this.app.startAnew();
      return;
    }
    this.app = new App(info, runs);
    this.app.start(true);
  }

  private broken(message: string): void {
    this.ended();
    this.setChip("not flown", "bad");
    this.tell([`The simulator stopped: ${message}`]);
    document.documentElement.dataset.flown = "no";
  }

  private tell(lines: string[]): void {
    this.problems.replaceChildren(...lines.map((line) => make("p", "", line)));
  }

  // As the command prints them; a click goes there.
  private tellDiagnostics(path: string, diagnostics: Diagnostic[], messages: string[]): void {
    const rows = diagnostics.map((diagnostic) => {
      const place = diagnostic.line > 0 ? `${diagnostic.file}:${diagnostic.line}:${diagnostic.column}: ` : `${diagnostic.file}: `;
      const row = make("button", "problem", make("span", "dim", place), diagnostic.text);
      row.type = "button";
      row.addEventListener("click", () => diagnostic.file === path && diagnostic.line > 0 && (this.editor.goToPlace(diagnostic), this.editor.view.focus()));
      return row;
    });
    this.problems.replaceChildren(...(rows.length > 0 ? rows : messages.map((line) => make("p", "", line))));
  }

  private async writeLink(): Promise<void> {
    const changed = this.editor.text !== this.shippedText(this.name);
    const hash = await linkTo(this.name, changed ? this.editor.text : undefined);
    try {
      history.replaceState(null, "", hash);
    } catch {
      // some browsers forbid it to a page from disk: copy link works all the same
    }
  }

  private async copyLink(): Promise<void> {
    await this.writeLink();
    const changed = this.editor.text !== this.shippedText(this.name);
    await this.copy(location.href.replace(/#.*/, "") + (await linkTo(this.name, changed ? this.editor.text : undefined)), this.linkButton);
  }

  private async copy(text: string, button: HTMLButtonElement): Promise<void> {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      button.textContent = "the address bar has it"; // a browser may keep its clipboard from a page from disk
    }
    setTimeout(() => (button.textContent = button === this.hash ? (this.flight?.outcome.final_hash ?? "") : before), 1200);
  }

  private download(): void {
    if (!this.flight?.log) return;
    const address = URL.createObjectURL(new Blob([this.flight.log as BlobPart], { type: "application/octet-stream" }));
    const link = make("a");
    link.href = address;
    link.download = this.flight.outcome.run?.file ?? "flight.mcap";
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }
}

applyTheme();
try {
  const playground = new Playground(document.getElementById("playground")!);
  // For the console and for tests.
  Object.assign(window, { playground });
  Object.defineProperty(window, "volery", { get: () => playground.app });
  void playground.openLink();
} catch (error) {
  document.getElementById("app")!.replaceChildren(make("p", "message", wordsOf(error)));
  document.documentElement.dataset.state = "failed";
}
