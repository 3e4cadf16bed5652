// Where a scenario is written: its text in colours, names offered, and what is wrong shown where it stands.
"use strict";

{
  const { EditorState, EditorView, tags } = CodeMirror;
  const { StreamLanguage, HighlightStyle, syntaxHighlighting, autocompletion } = CodeMirror;

  const toml = StreamLanguage.define({ ...CodeMirror.toml, languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["[", "{", '"'] } } });
  const colours = HighlightStyle.define([
    { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
    { tag: tags.string, color: "var(--good)" },
    { tag: [tags.number, tags.bool, tags.atom], color: "var(--bad)" },
    { tag: [tags.propertyName, tags.definition(tags.variableName), tags.variableName], color: "var(--accent)" },
  ]);
  const theme = EditorView.theme({
    "&": { color: "var(--ink)", backgroundColor: "var(--raised)", fontSize: "0.9rem" },
    ".cm-content": { caretColor: "var(--ink)", fontFamily: "ui-monospace, 'DejaVu Sans Mono', 'Liberation Mono', monospace" },
    ".cm-cursor": { borderLeftColor: "var(--ink)" },
    ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--quiet)", borderColor: "var(--faint)" },
    ".cm-activeLine": { backgroundColor: "transparent" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--faint) !important" },
    ".cm-tooltip": { backgroundColor: "var(--ground)", color: "var(--ink)", borderColor: "var(--quiet)" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--ground)" },
    ".cm-diagnostic": { whiteSpace: "pre-wrap" },
    ".cm-completionInfo": { maxWidth: "26rem" },
  });

  const option = (one) => ({
    label: one.name,
    detail: one.group,
    info: [one.summary, one.formula, one.source].filter(Boolean).join("\n"),
    type: "constant",
  });

  // What may be written at the cursor: a key's names, or a key.
  const offered = (names) => (context) => {
    const before = context.state.sliceDoc(0, context.pos);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    if (/^[^"#]*#/.test(line)) return null;
    const value = line.match(/([\w-]+)\s*=\s*(?:\[[^\]]*)?(")?([\w.+()-]*)$/);
    if (value) {
      const [, key, quoted, begun] = value;
      const found = names.of(key, names.owner(before.slice(0, before.length - value[0].length)));
      if (!found.length) return null;
      const options = found.map(option).map((one) => (quoted ? one : { ...one, apply: `"${one.label}"` }));
      return { from: context.pos - begun.length, options, validFor: /^[\w.+()-]*$/ };
    }
    const key = line.match(/(?:^|[{,])\s*([a-z_]*)$/);
    if (!key || (!key[1] && !context.explicit)) return null;
    const options = names.keys.map((label) => ({ label, apply: `${label} = `, type: "property" }));
    return { from: context.pos - key[1].length, options, validFor: /^[a-z_]*$/ };
  };

  // Where a problem stands in the document: what the reader gives by line and column, to the end of the word.
  const range = (doc, { line, column }) => {
    if (!line || line > doc.lines) return { from: 0, to: 0 };
    const of = doc.line(line);
    const from = Math.min(of.from + Array.from(of.text).slice(0, (column ?? 1) - 1).join("").length, of.to);
    const word = doc.sliceString(from, of.to).match(/^(?:"[^"]*"?|[\w.+-]+|.)/)?.[0] ?? "";
    return { from, to: from + word.length };
  };

  // An editor in an element; `changed` is told of each change.
  lab.editor = (parent, { text, label, names, changed }) => {
    const extensions = [
      CodeMirror.lineNumbers(),
      CodeMirror.highlightSpecialChars(),
      CodeMirror.history(),
      CodeMirror.drawSelection(),
      CodeMirror.bracketMatching(),
      CodeMirror.closeBrackets(),
      CodeMirror.lintGutter(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
      toml,
      syntaxHighlighting(colours),
      theme,
      autocompletion({ override: [offered(names)] }),
      CodeMirror.keymap.of([
        ...CodeMirror.closeBracketsKeymap,
        ...CodeMirror.defaultKeymap,
        ...CodeMirror.historyKeymap,
        ...CodeMirror.completionKeymap,
        ...CodeMirror.lintKeymap,
      ]),
      EditorView.updateListener.of((update) => update.docChanged && changed()),
    ];
    const state = (doc) => EditorState.create({ doc, extensions });
    const view = new EditorView({ parent, state: state(text) });
    return {
      view,
      text: () => view.state.doc.toString(),
      // Another scenario: what was typed before cannot be undone into it.
      open: (doc) => view.setState(state(doc)),
      replace: (from, to, insert) => view.dispatch({ changes: { from, to, insert } }),
      problems(list) {
        const { doc } = view.state;
        const marks = list.map((one) => ({
          ...range(doc, one),
          severity: "error",
          message: [one.message, one.expected && `expected: ${one.expected}`, one.help].filter(Boolean).join("\n"),
        }));
        view.dispatch(CodeMirror.setDiagnostics(view.state, marks));
      },
    };
  };
}
