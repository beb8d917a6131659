// CodeMirror, set up for the console. This module is loaded when an editor is first shown, and each language when a text of it
// is first shown.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Text } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { markdown } from "./markdown.ts";
import { COLOURED_CHARACTERS, type Language, lineBreakOf, replacement } from "./texts.ts";
import { colours, theme } from "./theme.ts";

export interface Settings {
  language: Language;
  readOnly: boolean;
  label: string;
}

/** An editor that is on the page. */
export interface Code {
  /** Shows another text. The cursor stays where it is, unless its place is replaced. */
  setText(text: string): void;
  set(settings: Settings): void;
  focus(at: number): void;
  destroy(): void;
}

const LANGUAGES: Record<Language, () => Promise<Extension>> = {
  json: () => import("@codemirror/lang-json").then((it) => it.json()),
  python: () => import("@codemirror/lang-python").then((it) => [it.python(), indentUnit.of("    ")]),
  markdown: () => Promise.resolve([StreamLanguage.define(markdown), EditorView.lineWrapping]),
  text: () => Promise.resolve(EditorView.lineWrapping),
};

/** The language of a text; a long text has none. If the language cannot be loaded, the text stays plain. */
export async function languageFor(language: Language, characters: number): Promise<Extension> {
  if (characters > COLOURED_CHARACTERS) return [];
  return LANGUAGES[language]().catch(() => []);
}

/** What every view of a text has in common. */
export function common({ readOnly, label }: Pick<Settings, "readOnly" | "label">): Extension {
  return [
    EditorState.readOnly.of(readOnly),
    EditorView.contentAttributes.of({ "aria-label": label, ...(readOnly ? { "aria-readonly": "true" } : {}) }),
  ];
}

export function looks(): Extension {
  return [lineNumbers(), highlightSpecialChars(), theme, syntaxHighlighting(colours), keymap.of([...defaultKeymap, ...searchKeymap]), search({ top: true })];
}

/**
 * Typing over a selection. A browser that does it by itself keeps the colours of the old text with a style attribute, which
 * offends the policy.
 */
const replaceByText = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    if (inputType !== "insertText" || data === null || view.composing || view.state.readOnly || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

/** Puts an editor into a shadow root, whose adopted sheets hold its styles: a style element would offend the policy. */
export function mount(root: ShadowRoot, text: string, first: Settings, onChange: (text: string) => void): Code {
  let settings = first;
  let present = text;
  let language: Extension = [];
  /** What `language` is for, so that a language that arrives late changes nothing. */
  let wanted = "";
  const given = new Compartment();
  const help = root.appendChild(document.createElement("p"));
  help.id = "help";
  help.hidden = true;
  help.textContent = "Tab leaves the editor. Control and ] indents a line, Control and [ takes the indent back. Control and F searches.";

  const extensions = () => given.of([common(settings), language]);
  const stateOf = (contents: string) =>
    EditorState.create({
      doc: contents,
      extensions: [
        EditorState.lineSeparator.of(lineBreakOf(contents)),
        history(),
        bracketMatching(),
        indentOnInput(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        keymap.of(historyKeymap),
        looks(),
        replaceByText,
        EditorView.contentAttributes.of({ "aria-describedby": "help" }),
        extensions(),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          const typed = update.state.sliceDoc();
          if (typed === present) return;
          present = typed;
          onChange(typed);
          chooseLanguage();
        }),
      ],
    });
  const view = new EditorView({ state: stateOf(text), root, parent: root });

  const configure = () => view.dispatch({ effects: given.reconfigure([common(settings), language]) });
  /** Loads the language if another one is due: another is asked for, or the text has become long or short. */
  const chooseLanguage = () => {
    const characters = view.state.doc.length;
    const due = `${settings.language} ${characters > COLOURED_CHARACTERS}`;
    if (due === wanted) return;
    wanted = due;
    void languageFor(settings.language, characters).then((loaded) => {
      if (wanted !== due) return;
      language = loaded;
      configure();
    });
  };
  chooseLanguage();

  return {
    setText(next) {
      if (next === present) return;
      const lineBreak = lineBreakOf(next);
      const before = view.state.doc.toString();
      present = next;
      if (lineBreak !== view.state.lineBreak) {
        view.setState(stateOf(next));
      } else {
        const { insert, ...range } = replacement(before, lineBreak === "\n" ? next : next.replaceAll("\r\n", "\n"));
        view.dispatch({ changes: { ...range, insert: Text.of(insert.split("\n")) } });
      }
      chooseLanguage();
    },
    set(next) {
      settings = next;
      configure();
      chooseLanguage();
    },
    focus(at) {
      view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } });
      view.focus();
    },
    destroy() {
      wanted = "";
      view.destroy();
      help.remove();
    },
  };
}
