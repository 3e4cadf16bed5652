"""The list of rules that scripts hold stacks to, out of the first lines of `tests/drill`: a rule, its source, its script.

A script begins with a comment that says the rule and, in brackets, where it stands: "RFC 6298, rule 5.4", "Linux,
tcp_rtt_estimator"; several with semicolons between them. A bracket that begins with "section" goes on about the document
before. Not for: whether a stack does as the script says.
"""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[1] / "tests" / "drill"
BRACKET = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)")
DOCUMENT = re.compile(r"(RFC \d+|Linux)\b[, ]*(?:\d+\.\d+, )?(.*)")
FUNCTION = re.compile(r"[a-z]+_\w+")


@dataclass(frozen=True, order=True)
class Place:
    """Where a rule stands: a document and what of it."""

    document: str
    part: str


@dataclass(frozen=True)
class Script:
    """A script by its name, with what its first lines say."""

    name: str
    rule: str

    def places(self) -> list[Place]:
        """Where its rule stands."""
        found: list[Place] = []
        document = ""
        for bracket in BRACKET.findall(self.rule):
            for clause in re.split(r"; |, and (?=RFC|Linux)|, (?=Linux)", bracket):
                match = DOCUMENT.search(clause)
                if match:
                    document = match[1]
                    part = match[2].split(": ")[0] if document == "Linux" else match[2]
                    found.append(Place(document, part.strip()))
                elif document == "Linux" and (function := FUNCTION.match(clause)):
                    found.append(Place(document, function[0]))
                elif document and clause.startswith(("section", "appendix", "rule", "NextSeg")):
                    found.append(Place(document, clause.strip()))
        return found


def scripts() -> list[Script]:
    """All of them, by name."""
    return [
        Script(str(path.relative_to(SCRIPTS).with_suffix("")), rule(path.read_text()))
        for path in sorted(SCRIPTS.glob("*/*.pkt"))
    ]


def rule(text: str) -> str:
    """What a script's first lines say."""
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return re.sub(r"- (?=capable|SSRB)", "-", " ".join(lines))


def page() -> str:
    """The page of the book."""
    by_document: dict[str, list[tuple[str, Script]]] = defaultdict(list)
    found = scripts()
    for script in found:
        for place in script.places():
            by_document[place.document].append((place.part, script))
    lines = [
        "# Rules that are held by scripts",
        "",
        (
            f"The {len(found)} scripts of `tests/drill`, by where their rules stand; written from their first lines, and one stands"
            " wherever its rule does. A running Linux 6.18 passes all of them but those that ask for what it does not have"
            " (`tests/drill/refused.txt`), and the simulated stack all but those of `tests/drill/known.txt`."
            " [Hold a stack against a script](../howto/drill.md) says how they are run."
        ),
        "",
        (
            "What no script speaks of: TCP small queues. They keep back what the host's own queue has no room for, and hear of room"
            " when a packet's memory is let go of (tcp_wfree). A TUN device lets go of it as it takes the packet (tun_net_xmit,"
            " skb_orphan), before anybody reads it, so that nothing ever lies in a queue; a shaper before the device would hold"
            " packets, and a script has no word for one. What leaves when for other reasons, pacing and segmentation offload, it sees:"
            " the time between bursts, and where PSH ends one."
        ),
    ]
    numbered = sorted(
        by_document, key=lambda name: (name == "Linux", int(name.removeprefix("RFC ")) if "RFC" in name else 0)
    )
    for document in numbered:
        lines += ["", f"## {document}", "", "| where | rule | script |", "|---|---|---|"]
        for part, script in sorted(by_document[document], key=lambda row: (row[0], row[1].name)):
            said = script.rule.replace("|", "\\|")
            lines.append(f"| {part or '–'} | {said} | `{script.name}` |")
    return "\n".join(lines) + "\n"
