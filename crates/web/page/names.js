// What can be named where, as `truckee variants` lists it, and the keys that the page's scenarios use.
"use strict";

{
  // A list and its members go by the same word; so do both directions of a link.
  const plain = (key) => key.replace(/(_back|_both)$/, "").replace(/^(predictor|estimator|detector)s$/, "$1");

  // The key that a place in the text belongs to: `kind` by what it is the kind of.
  const owner = (before) => {
    let [depth, key] = [0, ""];
    for (let k = before.length - 1; k >= 0; k--) {
      if ("}]".includes(before[k])) depth++;
      else if ("{[".includes(before[k]) && depth-- === 0) {
        key = before.slice(0, k).match(/([\w-]+)\s*=\s*\[?\s*$/)?.[1] ?? "";
        if (key) break;
        depth = 0;
      }
    }
    if (key) return key;
    const section = before.match(/^\s*\[\[?([\w.-]+)\]\]?\s*$/gm)?.at(-1)?.replace(/[\s[\]]/g, "") ?? "";
    return section.split(".").at(-1);
  };

  const made = (names, texts) => {
    const keys = new Set();
    for (const text of texts) for (const [, key] of text.matchAll(/(?:^|[{,])\s*([a-z][a-z_]*)\s*=/gm)) keys.add(key);
    // Those of a key; `kind` needs to know of what.
    const of = (key, within) => {
      const wanted = plain(key === "kind" ? (within === "traffic" ? "arrivals" : within) : key);
      const place = (one) => one.place.startsWith(`${wanted} = `) || one.place.includes(`{ ${wanted} = `);
      return names.filter((one) => (key === "kind") === /kind = "NAME"/.test(one.place) && place(one));
    };
    return { keys: [...keys].sort(), of, owner };
  };

  lab.namesOf = made;
}
