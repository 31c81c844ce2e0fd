// message.ts - a sentence instead of a page, when there is nothing else to show.
import { make } from "./dom";

export function showMessage(title: string, text: string): void {
  const app = document.getElementById("app") ?? document.body;
  app.replaceChildren(make("div", "message", make("h1", "", title), make("p", "", text)));
}

/// What went wrong, in words.
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
