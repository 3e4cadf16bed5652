// Ways to break a scenario: what each is, and what it does to the text.

const swap = (from, to) => (text) => text.replace(from, to);

export const BROKEN = [
  ["nothing at all", () => ""],
  ["no TOML", () => "<html>this is no scenario</html>"],
  ["a string that does not end", swap('"20s"', '"20s')],
  ["a bracket that does not close", swap("[[flow]]", "[[flow]")],
  ["a key twice", (text) => `duration = "3s"\n${text}`],
  ["no duration", swap('duration = "20s"', "")],
  ["a duration of nothing", swap('"20s"', '"0s"')],
  ["a negative duration", swap('"20s"', '"-20s"')],
  ["a unit that is none", swap("10Mbit/s", "10Mbut/s")],
  ["no unit", swap('"20ms"', "20")],
  ["a unit of something else", swap('"10Mbit/s"', '"10ms"')],
  ["a number that is none", swap("per = 0.001", "per = nan")],
  ["a probability above one", swap("0.001", "1.5")],
  ["a number beyond all bounds", swap('"20s"', '"99999999999999999999s"')],
  ["a sender that nobody knows", swap('"newreno"', '"renoo"')],
  ["a kind that nobody knows", swap('"bernoulli"', '"bernouli"')],
  ["a key that nobody knows", swap("sender =", "zender =")],
  ["a node that is not there", swap('to     = "b"', 'to     = "c"')],
  ["a flow to itself", swap('to     = "b"', 'to     = "a"')],
  ["no flow", (text) => text.slice(0, text.indexOf("[[flow]]"))],
  ["a live sender", swap('"newreno"', '"kernel:cubic"')],
  ["a file that a page cannot read", swap('{ kind = "bernoulli", per = 0.001 }', '{ kind = "trace", file = "cellular.trace" }')],
  ["more flows than memory holds", swap("[[link]]", 'topology = { kind = "dumbbell", n = 2000000000, rate = "1Mbit/s", delay = "1ms" }\n[[link]]')],
  ["characters of no use", (text) => `\u0000\uFFFF${text}`],
  ["braces without end", (text) => `x = ${"[".repeat(10000)}\n${text}`],
];
