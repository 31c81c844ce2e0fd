// editor.ts - the scenario's text in CodeMirror: colours, completion and hints from the schema, mistakes where the command finds them.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, ensureSyntaxTree, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic as Mark } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { Annotation, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { make } from "../ui/dom";
import type { Diagnostic } from "./messages";
import { numbersIn, type TextNumber } from "./numbers";
import { placeAt } from "./place";
import type { Schema } from "./schema";

const colors = HighlightStyle.define([
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--accent)" },
  { tag: [tags.string, tags.content], color: "var(--text)" },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: "var(--faint)" },
  { tag: [tags.labelName, tags.typeName, tags.meta], color: "var(--line-3)" },
]);

const editorTheme = EditorView.theme({
  "&": { height: "100%", fontSize: "0.962rem", backgroundColor: "var(--card)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace', lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", paddingBottom: "40px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--faint)", border: "0", opacity: "0.8" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)", border: "1px solid var(--edge)", borderRadius: "6px", overflow: "hidden" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--card)" },
  ".cm-completionDetail": { opacity: "0.7", fontStyle: "normal" },
  ".cm-diagnostic": { fontFamily: "inherit" },
});

const bySlider = Annotation.define<boolean>();

export interface EditorHost {
  changed(bySlider: boolean): void;
  moved(): void; // the cursor
}

export class Editor {
  readonly view: EditorView;
  schema?: Schema;

  constructor(parent: HTMLElement, private readonly host: EditorHost) {
    this.view = new EditorView({ parent, state: this.stateOf("") });
    parent.dataset.ownKeys = "";
  }

  private stateOf(text: string): EditorState {
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        indentUnit.of("  "),
        yaml(),
        syntaxHighlighting(colors),
        editorTheme,
        lintGutter(),
        autocompletion({ override: [(context) => this.complete(context)] }),
        hoverTooltip((view, pos) => this.hint(view, pos)),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": "scenario", spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.host.changed(update.transactions.some((change) => change.annotation(bySlider)));
          else if (update.selectionSet) this.host.moved();
        }),
      ],
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  /// Another text: what could be undone is forgotten.
  open(text: string): void {
    this.view.setState(this.stateOf(text));
    this.host.changed(false);
  }

  /// The numbers of the text as it is now.
  numbers(): TextNumber[] {
    const { state } = this.view;
    const tree = ensureSyntaxTree(state, state.doc.length, 200);
    return tree ? numbersIn(tree, this.text) : [];
  }

  get cursor(): number {
    return this.view.state.selection.main.head;
  }

  goTo(pos: number): void {
    this.view.dispatch({ selection: { anchor: pos }, scrollIntoView: true });
  }

  goToPlace(diagnostic: Diagnostic): void {
    this.goTo(this.positionOf(diagnostic));
  }

  /// Write another number in place of one; the selection and the place in the window stay.
  write(number: TextNumber, value: string): void {
    this.view.dispatch({ changes: { from: number.from, to: number.to, insert: value }, annotations: bySlider.of(true) });
  }

  private positionOf({ line, column }: Diagnostic): number {
    const { doc } = this.view.state;
    if (line < 1 || line > doc.lines) return 0;
    const docLine = doc.line(line);
    let offset = 0; // columns count characters, an editor counts halves of some
    for (const letter of [...docLine.text].slice(0, Math.max(0, column - 1))) offset += letter.length;
    return Math.min(docLine.from + offset, docLine.to);
  }

  /// Show these, of the file `path`, where they are.
  mark(path: string, errors: Diagnostic[], warnings: Diagnostic[]): void {
    const { doc } = this.view.state;
    const markOf = (severity: "error" | "warning") => (diagnostic: Diagnostic): Mark => {
      const from = this.positionOf(diagnostic);
      const rest = /^[^\s,\]}:]*/.exec(doc.sliceString(from, doc.lineAt(from).to))![0];
      return { from, to: Math.min(from + Math.max(rest.length, 1), doc.length), severity, message: diagnostic.text };
    };
    const isHere = (diagnostic: Diagnostic) => diagnostic.file === path && diagnostic.line > 0;
    this.view.dispatch(setDiagnostics(this.view.state, [...errors.filter(isHere).map(markOf("error")), ...warnings.filter(isHere).map(markOf("warning"))]));
  }

  private complete(context: CompletionContext): CompletionResult | null {
    if (!this.schema) return null;
    const place = placeAt(this.text, context.pos);
    if (context.pos === place.from && !context.explicit) return null;
    const { schema } = this;
    if (place.isValue) {
      const words = schema.words(place.path);
      return words.length > 0 ? { from: place.from, options: words.map((label) => ({ label, type: "enum" })), validFor: /^[\w-]*$/ } : null;
    }
    const apply = (view: EditorView, { label }: { label: string }, from: number, to: number) => {
      const colon = /^\s*:/.test(view.state.doc.lineAt(to).text.slice(to - view.state.doc.lineAt(to).from)) ? "" : ": ";
      view.dispatch({ changes: { from, to, insert: label + colon }, selection: { anchor: from + label.length + colon.length } });
      if (schema.words([...place.path, label]).length > 0) startCompletion(view);
    };
    const options = schema.keys(place.path).map(({ name, text, defaultText }) => ({ label: name, type: "property", detail: defaultText === undefined ? "" : `= ${defaultText.slice(0, 24)}`, info: text, apply }));
    return options.length > 0 ? { from: place.from, options, validFor: /^[\w-]*$/ } : null;
  }

  // What the key under the pointer is.
  private hint(view: EditorView, pos: number) {
    const line = view.state.doc.lineAt(pos);
    const before = /[\w-]*$/.exec(line.text.slice(0, pos - line.from))![0];
    const after = /^[\w-]*/.exec(line.text.slice(pos - line.from))![0];
    const [from, to] = [pos - before.length, pos + after.length];
    if (!this.schema || from === to || !/^\s*:/.test(line.text.slice(to - line.from))) return null;
    const place = placeAt(this.text, to);
    const text = place.isValue ? "" : this.schema.textOf([...place.path, before + after]);
    return text ? { pos: from, end: to, above: true, create: () => ({ dom: make("div", "hint", text) }) } : null;
  }
}
