// Files that are dropped into the page: scenarios, and what scenarios name.
"use strict";

{
  const { element, look } = report;
  // Larger ones are for the command, bytes: what is kept goes through every question and into links.
  const MOST = 4 << 20;

  const size = (bytes) => `${look.number(Number((bytes / 2 ** 20).toPrecision(3)))} MiB`;

  // The text of a file; an error says in words why there is none.
  const read = async (file) => {
    if (file.size > MOST) throw new Error(`${file.name} has ${size(file.size)}, expected at most ${size(MOST)}: larger files are for the command.`);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch (error) {
      if (!(error instanceof TypeError)) throw new Error(`${file.name} cannot be read: ${error.message}`);
      throw new Error(`${file.name} is no text, expected a scenario (.toml), a recorded capacity with a time in milliseconds on each line, or a table of delays.`);
    }
  };

  class Files {
    // `page` opens a scenario, holds the files that go with one, and tells what has become of a file.
    constructor(holder, page) {
      Object.assign(this, { holder, page, hand: new lab.Hand() });
      const chooser = document.getElementById("choose");
      chooser.addEventListener("change", async () => {
        await this.take(chooser.files);
        chooser.value = "";
      });
      // What falls beside the editor must not replace the page.
      const carries = (event) => [...event.dataTransfer.types].includes("Files");
      window.addEventListener("dragover", (event) => carries(event) && event.preventDefault(), true);
      window.addEventListener(
        "drop",
        (event) => {
          if (!carries(event)) return;
          event.preventDefault();
          event.stopPropagation();
          this.take(event.dataTransfer.files);
        },
        true,
      );
    }

    async take(files) {
      const said = [];
      for (const file of [...files]) {
        try {
          said.push(await this.one(file.name.slice(0, 100), await read(file)));
        } catch (error) {
          said.push(error.message);
        }
      }
      this.page.tell(said.join(" "));
    }

    async one(name, text) {
      if (/\.toml$/i.test(name)) {
        this.page.open(name, text);
        return `${name} is opened.`;
      }
      const said = await this.hand.does({ ask: { do: "file", name, text } });
      if (said.answer?.is !== "file") throw new Error(`${said.answer?.why ?? said.failed}. Nothing was taken over.`);
      this.page.keep(name, text);
      const { period_s, opportunities, no_trace } = said.answer;
      if (period_s === null) return `${name} is a table of delays; a link's jitter names it as distribution = "table", file = "${name}". It is no recorded capacity: ${no_trace}.`;
      return `${name} is a recorded capacity of ${look.number(period_s)} s with room for ${look.number(opportunities)} packets; a link names it as channel = { kind = "trace", file = "${name}" }.`;
    }

    show(files) {
      const names = Object.keys(files);
      this.holder.hidden = !names.length;
      const one = (name) =>
        element("span", { class: "file" }, element("code", { text: name }), element("button", { type: "button", text: "Remove", "aria-label": `Remove ${name}`, on: { click: () => this.page.drop(name) } }));
      this.holder.replaceChildren("Files: ", ...names.map(one));
    }
  }

  // Names and texts, and nothing else.
  lab.filesOf = (value) => {
    const pairs = value && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
    return Object.fromEntries(pairs.filter(([, text]) => typeof text === "string"));
  };
  lab.Files = Files;
}
