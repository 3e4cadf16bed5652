// A link that carries scenarios: in the address's fragment, which no server ever sees. `#lab=VERSION.CHECK.TEXT`: the text is
// JSON, compressed (deflate) and in base64 as addresses have it; the check is that of its bytes, CRC-32.
"use strict";

{
  const VERSION = "1";
  // A scenario is read up to so many characters; a link that holds more is none of ours.
  const MOST = 1 << 20;

  const crc = (bytes) => {
    let rest = -1;
    for (const byte of bytes) {
      rest ^= byte;
      for (let k = 0; k < 8; k++) rest = (rest >>> 1) ^ (0xedb88320 & -(rest & 1));
    }
    return (~rest >>> 0).toString(16).padStart(8, "0");
  };

  const through = (bytes, stream) => new Blob([bytes]).stream().pipeThrough(stream);

  const collected = async (stream) => {
    const parts = [];
    let length = 0;
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > MOST) {
        await reader.cancel();
        throw new Error("This link holds more than a scenario can have.");
      }
      parts.push(value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  };

  // The fragment that says this, without the `#`.
  const written = async (said) => {
    const text = new TextEncoder().encode(JSON.stringify(said));
    const bytes = await collected(through(text, new CompressionStream("deflate-raw")));
    const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    const safe = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return `lab=${VERSION}.${crc(bytes)}.${safe}`;
  };

  // What a fragment says; nothing where it is not one of ours. An error says in words what is wrong with it.
  const read = async (fragment) => {
    const found = fragment.match(/^#?lab=([^.]*)(?:\.([^.]*)\.(.*))?$/s);
    if (!found) return null;
    const [, version, check, text] = found;
    if (version !== VERSION) {
      throw new Error(`This link is of another version ("${version.slice(0, 20)}") than this page reads (${VERSION}).`);
    }
    const damaged = new Error("This link is damaged: a part of it was lost or changed on its way. Nothing of it was taken over.");
    let bytes;
    try {
      const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
      bytes = Uint8Array.from(raw, (one) => one.charCodeAt(0));
    } catch {
      throw damaged;
    }
    if (crc(bytes) !== check) throw damaged;
    let said;
    try {
      said = JSON.parse(new TextDecoder().decode(await collected(through(bytes, new DecompressionStream("deflate-raw")))));
    } catch (error) {
      throw error instanceof SyntaxError || error instanceof TypeError ? damaged : error;
    }
    const text_ = (value) => typeof value === "string";
    if (!text_(said?.name) || !text_(said.text) || !(said.variant === null || text_(said.variant))) throw damaged;
    return { name: said.name.slice(0, 100), text: said.text, variant: said.variant, files: lab.filesOf(said.files) };
  };

  lab.link = { written, read };
}
