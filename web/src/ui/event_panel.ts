// event_panel.ts - the list of what happened, with a switch for each kind; it follows the time that is shown.
import type { EventList } from "../data/events";
import type { RunEvent } from "../data/run";
import type { Clock } from "./clock";
import { formatTime, make } from "./dom";
import { markOfKind, namedKind, rankOfKind } from "./events";

const ROWS_MAX = 1000;

export class EventPanel {
  readonly element = make("div", "panel");
  private readonly switches = make("div", "switches");
  private readonly list = make("ul", "events");
  private shown: RunEvent[] = [];
  private now = -2; // index of the row of the present; -1: before the first

  constructor(private readonly events: EventList, private readonly clock: Clock, private readonly chosen: () => string) {
    this.element.append(this.switches, this.list);
    events.onChange(() => this.fill());
    this.fill();
  }

  /// Another drone is looked at.
  choose(drone: string): void {
    if (this.events.only) this.events.setOnly(drone);
    else this.fill();
  }

  private fill(): void {
    const kinds = [...this.events.kinds].sort((a, b) => rankOfKind(b[0]) - rankOfKind(a[0]));
    this.switches.replaceChildren(
      ...kinds.map(([kind, count]) => this.makeSwitch(markOfKind(kind), `${namedKind(kind)} ${count}`, !this.events.isHidden(kind), () => this.events.toggle(kind))),
    );
    if (new Set(this.events.all.map((event) => event.drone).filter((drone) => drone !== "")).size > 1) {
      const { only } = this.events;
      this.switches.append(this.makeSwitch(undefined, `only ${this.chosen()}`, only !== "", () => this.events.setOnly(only ? "" : this.chosen())));
    }
    this.shown = this.events.shown;
    this.list.replaceChildren(...this.shown.slice(0, ROWS_MAX).map((event) => this.makeRow(event)));
    if (this.shown.length > ROWS_MAX) this.list.append(make("li", "dim", `and ${this.shown.length - ROWS_MAX} more: hide a kind to see them`));
    if (this.shown.length === 0) this.list.append(make("li", "dim", this.events.all.length > 0 ? "none of these kinds" : "Nothing happened that the log tells."));
    this.now = -2;
    this.update();
  }

  private makeSwitch(mark: SVGSVGElement | undefined, text: string, on: boolean, act: () => void): HTMLButtonElement {
    const button = make("button", on ? "switch on" : "switch", mark, text);
    button.type = "button";
    button.setAttribute("aria-pressed", String(on));
    button.addEventListener("click", act);
    return button;
  }

  private makeRow(event: RunEvent): HTMLLIElement {
    const kind = make("span", "kind", `${namedKind(event.kind)}${event.drone ? ` ${event.drone}` : ""}`);
    const button = make("button", "", markOfKind(event.kind), make("span", "when", `${formatTime(event.time)} s`), make("span", "what", kind, ` ${event.text}`));
    button.type = "button";
    button.dataset.kind = event.kind;
    button.addEventListener("click", () => {
      this.clock.seek(event.time);
      button.blur();
    });
    return make("li", "", button);
  }

  /// Mark the last event that has happened by the time that is shown.
  update(): void {
    let low = -1;
    let high = Math.min(this.shown.length, ROWS_MAX) - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.shown[middle].time <= this.clock.time + 1e-9) low = middle;
      else high = middle - 1;
    }
    if (low === this.now) return;
    this.list.children[this.now]?.classList.remove("now");
    this.now = low;
    const row = this.list.children[low];
    row?.classList.add("now");
    if (this.clock.playing) row?.scrollIntoView({ block: "nearest" });
  }
}
