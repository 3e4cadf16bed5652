"""Circles among the files of a crate: files of which each, by way of others or not, needs what stands in another.

A file needs another one where its code names, by `use` or in passing, what that defines. Who only hands on (`pub use`, or
`mod`) needs nothing by that: a name that was handed on is looked for where it is defined. Tests do not count.

As a program it writes those there are, which is none: the gate fails for any.

Not for: circles of crates, which Cargo refuses.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# What is no code. A lifetime is no character, and a character may be a quotation mark.
_NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<rails>\#*)".*?"(?P=rails)|b?"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^'\\])'""", re.DOTALL
)
_DECLARED = re.compile(
    r"(?P<for_tests>#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*)?(?P<attributes>(?:#\[[^\n]*\]\s*)*)"
    r"(?:pub(?:\([^)]*\))?\s+)?mod\s+(?P<name>\w+)\s*;"
)
_USE = re.compile(r"\b(?P<pub>pub(?:\([^)]*\))?\s+)?use\s+(?P<tree>[^;]+);")
_PATH = re.compile(r"(?<![\w:$])(?P<path>(?:[a-z_]\w*)(?:::\w+)+)")


@dataclass
class Module:
    """A file of a crate, as a module."""

    path: tuple[str, ...]
    file: Path
    code: str
    # By the name here: the path that it is of.
    used: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Names that are only handed on.
    handed_on: set[str] = field(default_factory=set)
    all_of: list[tuple[str, ...]] = field(default_factory=list)


def circles(crate: Path) -> list[list[str]]:
    """The files of a crate's folder that are in circles, circle by circle, each in order."""
    modules = _modules(crate / "src")
    needs = {file: sorted(others) for file, others in _needs(modules).items()}
    named = {file: file.relative_to(crate / "src").as_posix() for file in needs}
    return sorted(sorted(named[file] for file in circle) for circle in _knots(needs) if len(circle) > 1)


def all_circles(crates: Path) -> Iterator[tuple[str, list[str]]]:
    """Those of all crates of a folder, each with its crate's name."""
    for crate in sorted(folder for folder in crates.iterdir() if (folder / "src").is_dir()):
        yield from ((crate.name, circle) for circle in circles(crate))


def needed(crate: Path) -> dict[str, dict[str, set[str]]]:
    """Which file of a crate needs which other ones, and what of them."""
    src = crate / "src"
    found = _needs(_modules(src))

    def name(file: Path) -> str:
        return file.relative_to(src).as_posix()

    return {name(file): {name(other): what for other, what in others.items()} for file, others in found.items()}


def _modules(src: Path) -> dict[tuple[str, ...], Module]:
    """The modules of a crate by their paths, without those that are for tests."""
    modules: dict[tuple[str, ...], Module] = {}
    roots = [file for file in (src / "lib.rs", src / "main.rs") if file.exists()]
    todo: list[tuple[tuple[str, ...], Path]] = [((), file) for file in roots[:1]]
    while todo:
        path, file = todo.pop()
        text = file.read_text()
        code = _code(text)
        module = Module(path, file, code)
        modules[path] = module
        inside = file.parent if file.name in ("lib.rs", "main.rs", "mod.rs") else file.with_suffix("")
        # Attributes have strings, which are no code: so it is looked for in the text.
        for declared in _DECLARED.finditer(_without_comments(text.partition("#[cfg(test)]\nmod tests {")[0])):
            if declared["for_tests"] or "cfg(test)" in declared["attributes"]:
                continue
            told = re.search(r'#\[path = "([^"]+)"\]', declared["attributes"])
            name = declared["name"]
            here = [file.parent / told[1]] if told else [inside / f"{name}.rs", inside / name / "mod.rs"]
            todo.extend(((*path, name), one) for one in here if one.exists() and (*path, name) not in modules)
        _read_uses(module)
    return modules


def _without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def _code(text: str) -> str:
    """A file's code: without comments, strings and its tests, which come last."""
    return _NO_CODE.sub(" ", text.partition("#[cfg(test)]\nmod tests {")[0])


def _read_uses(module: Module) -> None:
    for use in _USE.finditer(module.code):
        before = module.code[: use.start()].rstrip()
        if before.endswith("#[cfg(test)]"):
            continue
        for path, name in _leaves(use["tree"]):
            if name == "*":
                module.all_of.append(path)
            elif name != "_":
                module.used[name] = path
                if use["pub"]:
                    module.handed_on.add(name)


def _leaves(tree: str, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths of a tree of `use`, and what each is called."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if brace:
        begun = (*before, *(part.strip() for part in head.split("::") if part.strip()))
        for branch in _branches(rest[: rest.rindex("}")]):
            yield from _leaves(branch, begun)
        return
    path_text, _, alias = tree.partition(" as ")
    path = (*before, *(part.strip() for part in path_text.split("::") if part.strip()))
    if not path:
        return
    if path[-1] == "self" and len(path) > 1:
        path = path[:-1]
    if path[-1] == "*":
        yield path[:-1], "*"
    else:
        yield path, alias.strip() or path[-1]


def _branches(text: str) -> Iterator[str]:
    """What stands between the commas that are not within braces."""
    depth, begun = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield text[begun:at]
            begun = at + 1
    if text[begun:].strip():
        yield text[begun:]


def _needs(modules: Mapping[tuple[str, ...], Module]) -> dict[Path, dict[Path, set[str]]]:
    needs: dict[Path, dict[Path, set[str]]] = {module.file: {} for module in modules.values()}
    for module in modules.values():
        named = [path for name, path in module.used.items() if name not in module.handed_on]
        code = _USE.sub(" ", module.code)
        named += [tuple(path["path"].split("::")) for path in _PATH.finditer(code)]
        # What is handed on, and used here as well: a type as a word, what is called with what it is called with.
        words = set(re.findall(r"(?<![\w.:])([A-Z]\w*|[a-z_]\w*!?(?=\())", re.sub(r"\bfn\s+\w+", "", code)))
        named += [module.used[name] for name in sorted(module.handed_on & {word.rstrip("!") for word in words})]
        for path in named:
            target = _target(modules, module, path)
            if target and target.file != module.file:
                needs[module.file].setdefault(target.file, set()).add("::".join(path))
    return needs


def _target(
    modules: Mapping[tuple[str, ...], Module],
    at: Module,
    path: tuple[str, ...],
    seen: frozenset[tuple[tuple[str, ...], tuple[str, ...]]] = frozenset(),
) -> Module | None:
    """The module that defines what a path names; none where it is of another crate."""
    if (at.path, path) in seen:
        return None
    seen |= {(at.path, path)}
    here, rest = at.path, list(path)
    if rest[0] == "crate":
        here, rest = (), rest[1:]
    elif rest[0] in ("self", "super"):
        while rest and rest[0] in ("self", "super"):
            if rest[0] == "super":
                here = here[:-1]
            rest = rest[1:]
    elif (*at.path, rest[0]) not in modules:
        used = at.used.get(rest[0])
        if used is None or used[0] == rest[0]:
            return None
        return _target(modules, at, (*used, *rest[1:]), seen)
    while rest and (*here, rest[0]) in modules:
        here, rest = (*here, rest[0]), rest[1:]
    found = modules.get(here)
    if found is None:
        return None
    if not rest:
        # The module by itself: what of it is needed shows where it is named.
        return None
    if rest[0] in found.used:
        onward = found.used[rest[0]]
        if found.path == at.path and onward == path:
            return None
        return _target(modules, found, (*onward, *rest[1:]), seen)
    defined = re.search(
        rf"\b(?:fn|struct|enum|trait|type|const|static|mod|union|macro_rules!)\s+{rest[0]}\b", found.code
    )
    if not defined:
        for all_of in found.all_of:
            target = _target(modules, found, (*all_of, *rest), seen)
            if target:
                return target
        exported = rf"#\[macro_export\]\s*macro_rules!\s+{rest[0]}\b"
        for module in modules.values():
            if not here and re.search(exported, module.code):
                return module
    return found


def _knots(needs: Mapping[Path, list[Path]]) -> list[list[Path]]:
    """Sets of files each of which reaches all others of its set (Tarjan 1972)."""
    number: dict[Path, int] = {}
    least: dict[Path, int] = {}
    stack: list[Path] = []
    found: list[list[Path]] = []

    def visit(file: Path) -> None:
        number[file] = least[file] = len(number)
        stack.append(file)
        for other in needs[file]:
            if other not in number:
                visit(other)
                least[file] = min(least[file], least[other])
            elif other in stack:
                least[file] = min(least[file], number[other])
        if least[file] == number[file]:
            at = stack.index(file)
            found.append(stack[at:])
            del stack[at:]

    for file in sorted(needs):
        if file not in number:
            visit(file)
    return found


def main(arguments: list[str]) -> None:
    """All circles; with the name of a crate, its own, and what their files need of one another."""
    crates = Path(__file__).parent.parent / "crates"
    for name, circle in all_circles(crates):
        if arguments and name not in arguments:
            continue
        print(f"{name}: {' '.join(circle)}")
        needs = needed(crates / name) if arguments else {}
        for file in circle if arguments else []:
            for other in sorted(set(needs[file]) & set(circle)):
                print(f"    {file} needs of {other}: {', '.join(sorted(needs[file][other]))}")


if __name__ == "__main__":
    main(sys.argv[1:])
