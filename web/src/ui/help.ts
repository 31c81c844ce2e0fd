// help.ts - the overlay with the keys, and what they do.
import { make } from "./dom";

export interface Shortcut {
  keys: string[]; // as event.key has them
  shown: string;
  text: string;
  act(): void;
}

export class Help {
  readonly element = make("div", "help hidden");

  constructor(shortcuts: Shortcut[]) {
    const list = make("dl", "");
    for (const shortcut of shortcuts) list.append(make("dt", "", make("kbd", "", shortcut.shown)), make("dd", "", shortcut.text));
    list.append(make("dt", "", make("kbd", "", "drag")), make("dd", "", "turn the scene; zoom a plot in time"));
    list.append(make("dt", "", make("kbd", "", "wheel")), make("dd", "", "zoom the scene; with shift, a plot"));
    list.append(make("dt", "", make("kbd", "", "click")), make("dd", "", "choose a drone; in a plot, go to that time"));
    const card = make("div", "card", make("h2", "", "Keys"), list, make("p", "dim", "Any key or a click closes this."));
    this.element.append(card);
    this.element.setAttribute("role", "dialog");
    this.element.setAttribute("aria-label", "keys");
    this.element.addEventListener("click", () => this.hide());
  }

  get open(): boolean {
    return !this.element.classList.contains("hidden");
  }

  show(): void {
    this.element.classList.remove("hidden");
  }

  hide(): void {
    this.element.classList.add("hidden");
  }
}

/// Keys work anywhere but where text is typed or a choice is made.
export function listenForKeys(shortcuts: Shortcut[], help: Help): void {
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (help.open) {
      help.hide();
      event.preventDefault();
      return;
    }
    const target = event.target as HTMLElement;
    if (target.tagName === "SELECT" || target.tagName === "TEXTAREA" || (target.tagName === "INPUT" && ["text", "number"].includes((target as HTMLInputElement).type))) return;
    if (target instanceof Element && target.closest("[data-own-keys]")) return; // an editor, sliders
    const shortcut = shortcuts.find((s) => s.keys.includes(event.key));
    if (!shortcut) return;
    event.preventDefault();
    shortcut.act();
  });
}
