export { EditorState, StateEffect, StateField } from "@codemirror/state";
export { EditorView, keymap, lineNumbers, highlightSpecialChars, drawSelection, highlightActiveLine } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { StreamLanguage, syntaxHighlighting, HighlightStyle, bracketMatching } from "@codemirror/language";
export { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
export { setDiagnostics, lintGutter, lintKeymap } from "@codemirror/lint";
export { toml } from "@codemirror/legacy-modes/mode/toml";
export { tags } from "@lezer/highlight";
