"""What a project may add in files of its own: rules as ours are, and golden entries for fields or for any key."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from loralint.authoring.conditions import names, normal
from loralint.authoring.parameter import Literally, Number
from loralint.authoring.rule import Condition, Kebab, Name, RuleFile, Strict, Text
from loralint.canonical.fields import FIELDS
from loralint.checks.cel import ITEM, compiled

# No letter that starts our codes, and nothing that a selector means already: the tiers S, A and B, and ALL.
CODE = r"^(?!L|[SAB]\d|ALL\d)[A-Z]{1,6}\d{3}$"
_TOLERANCE = re.compile(r"(?:±|\+-|\+/-)?\s*(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(%)?$")
Code = Annotated[
    str, Field(pattern=CODE, description="up to six capitals and three digits, such as X001; L is ours; S, A, B: tiers")
]


class OwnRule(RuleFile):
    """A rule of the project's own: as ours, with a code of its own; release and sources may be left out."""

    model_config = ConfigDict(regex_engine="python-re")  # a code is also known by what it does not start with

    id: Code
    since: str = Field("", description="release or date that it came with, as the project counts")
    sources: list[str] = Field([], description="what the rule rests on: a ticket, a page, a measurement")

    @model_validator(mode="after")
    def _expression(self) -> Self:
        if self.uses == "cel":
            text = self.with_.get("cel")
            if not isinstance(text, str) or not self.at:
                raise ValueError("uses: cel takes with: {cel: an expression}, and at: where the finding points")
            if ITEM in compiled(text)[1] and not self.each:
                raise ValueError("the expression speaks of item, so the rule needs each")
        return self


class OwnEntry(Strict):
    """One value that the project holds to: of a canonical field or fact in every run, or of a key in some files."""

    model_config = ConfigDict(regex_engine="python-re")

    id: Code
    name: Kebab = Field(description="kebab-case, names the fault")
    parameter: Name | None = Field(None, description="canonical field or fact, judged in every run that has it")
    key: str | None = Field(None, min_length=1, description="dotted path, such as server.limits.0.cpu; * is any step")
    files: list[str] | None = Field(None, min_length=1, description="with key: patterns as in .gitignore")
    when: Condition | None = Field(None, description="with parameter: where the entry counts")
    recommended: Literally | None = Field(None, description="what to write instead")
    range: tuple[Number, Number] | None = Field(None, strict=False, description="[lowest, highest] that is fine")
    set: list[Literally] | None = Field(None, min_length=1, description="the values that are fine")
    tolerance: str | Number | None = Field(None, description="around recommended: 0.5, '±0.5' or '±10%'")
    tier: Literal["S", "A", "B", "note"] = Field("A", description="S blocks, A wants two people, B is small")
    then: Text = Field("the run leaves the values that this project holds to", description="what happens beyond it")
    why: str = Field(min_length=8, description="why the project holds to it")
    sources: list[str] = Field([], description="what it rests on")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.parameter is None) == (self.key is None):
            raise ValueError("an entry is for a parameter or for a key")
        if (self.key is None) != (self.files is None):
            raise ValueError("key and files go together: which key, in which files")
        if self.when and self.parameter is None:
            raise ValueError("when speaks of a run's fields, so it goes with parameter")
        if self.when and any(name == "item" or name.startswith("hit.") for name in names(normal(self.when))):
            raise ValueError("when of an entry knows neither item nor hit")
        if [self.range, self.set, self.tolerance].count(None) != 2:
            raise ValueError("an entry has exactly one of range, set and tolerance")
        if self.tolerance is not None:
            self.around()
        if self.range and self.range[0] > self.range[1]:
            raise ValueError(f"range {list(self.range)} is upside down")
        if self.recommended is not None and not self._fine(self.recommended):
            raise ValueError(f"recommended {self.recommended!r} is not fine by its own entry")
        if self.set and self.parameter in FIELDS and FIELDS[self.parameter].type in ("list", "map", "targets"):
            raise ValueError(f"{self.parameter} is a list; write a rule with each: {self.parameter}")
        return self

    def around(self) -> tuple[Number, Number]:
        """The range that is fine, of an entry with a range or a tolerance."""
        if self.range:
            return self.range
        match = _TOLERANCE.match(str(self.tolerance).strip())
        middle = self.recommended
        if match is None or isinstance(middle, (bool, str)) or middle is None:
            raise ValueError("tolerance is a number, '±0.5' or '±10%', around a recommended number")
        width = float(match[1]) * (abs(middle) / 100 if match[2] else 1)
        return (_rounded(middle - width), _rounded(middle + width))

    def _fine(self, value: Literally) -> bool:
        if self.set is not None:
            return any(type(one) is type(value) and one == value for one in self.set)
        low, high = self.around()
        return not isinstance(value, (bool, str)) and low <= value <= high


def _rounded(number: float) -> Number:
    """Without the noise of binary fractions: 0.9 and not 0.9000000000000001."""
    return float(f"{number:.12g}")
