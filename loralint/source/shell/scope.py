"""What a shell knows at one point of a script: variables, functions, folder, arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loralint.source.command import Part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loralint.source.shell.words import Field

# set by the shell itself or by nobody: known to be empty or not known at all, but never from the file
_RUNTIME = frozenset({"RANDOM", "SECONDS", "PPID", "BASHPID", "LINENO", "PWD", "OLDPWD", "HOSTNAME", "BASH_SOURCE"})


class Scope:
    """names: variable -> its words (one, or those of an array). exported: those that programs get. folder: where `cd`
    led, None when unknown. args: `$1`, `$2` ..., None when somebody else gives them. sure: no branch was entered.
    rooted: whether it runs in a container, where paths from the root are known and so kept as folders.
    """

    __slots__ = ("args", "depth", "exported", "folder", "functions", "names", "rooted", "sure")

    def __init__(self) -> None:
        self.names: dict[str, tuple[Field, ...]] = {}
        self.exported: dict[str, None] = {}
        self.folder: str | None = ""
        self.args: tuple[Field, ...] | None = None
        self.functions: dict[str, Any] = {}
        self.sure = True
        self.rooted = False
        self.depth = 0

    def copy(self, *, sure: bool | None = None) -> Scope:
        """What a subshell or a branch starts from."""
        made = Scope()
        made.names, made.exported, made.functions = dict(self.names), dict(self.exported), dict(self.functions)
        made.folder, made.args, made.depth, made.rooted = self.folder, self.args, self.depth, self.rooted
        made.sure = self.sure if sure is None else self.sure and sure
        return made

    def merge(self, outcomes: Iterable[Scope], how: str) -> None:
        """Go on after a branch: what its ways left different is not known. how: what to say of that."""
        several = list(outcomes)
        for name in {name for one in several for name in one.names}:
            values = [one.names.get(name) for one in several]
            if all(_same(values[0], one) for one in values[1:]):
                self.names[name] = values[-1] or ()
            else:
                given = next(one for one in values if one is not None)
                self.forget(name, f"`${name}` is {how}", given)
                self.names[name] = _extended(values, self.names[name])
        for one in several:
            self.exported.update(one.exported)
            self.functions.update(one.functions)
        folders = {one.folder for one in several}
        self.folder = folders.pop() if len(folders) == 1 else None

    def forget(self, name: str, why: str, like: tuple[Field, ...] = ()) -> None:
        """Make a variable unknown, at the place where it was given last."""
        from loralint.source.shell.words import Field

        start, end = (like[0].start, like[-1].end) if like else (0, 0)
        self.names[name] = (Field((Part(f"${{{name}}}", start, end, why),), start, end),)

    def why_absent(self, name: str) -> str:
        """Why a variable that the file does not set is not known."""
        if name.isdigit() or name in {"@", "*", "#"}:
            return "it is an argument of the script"
        return f"`${name}` is known only when it runs" if name in _RUNTIME else f"`${name}` comes from the environment"


def _same(left: tuple[Field, ...] | None, right: tuple[Field, ...] | None) -> bool:
    if left is None or right is None:
        return left is right
    return [(one.text, one.why) for one in left] == [(one.text, one.why) for one in right]


def _extended(values: list[tuple[Field, ...] | None], unknown: tuple[Field, ...]) -> tuple[Field, ...]:
    """What all ways begin with, and then what is not known: `args+=(--x)` in a branch leaves the rest of them known."""
    shortest = min(values, key=lambda one: len(one or ()))
    if not shortest:
        return unknown
    common = 0
    while common < len(shortest) and all(one and _same((one[common],), (shortest[common],)) for one in values):
        common += 1
    if common:
        return (*shortest[:common], *unknown)
    texts = [one[0].text for one in values if one and len(one) == 1 and not one[0].why]
    least = min(texts, key=len, default="")
    if len(texts) == len(values) and least and all(text.startswith(least + " ") or text == least for text in texts):
        whole = next(one[0] for one in values if one and one[0].text == least)
        blank = Part(" ", whole.end, whole.end)
        return (whole._replace(parts=(*whole.parts, blank, *unknown[0].parts)),)
    return unknown
