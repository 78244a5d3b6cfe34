"""The authored form of a golden parameter: one YAML file under golden/parameters/ with an entry per condition."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from loralint.authoring.rule import Condition, Kebab, Name, Source, Strict
from loralint.checks.conditions import compare

Number = int | float
Literally = bool | int | float | str
_OPERATORS = {"above": "gt", "at_least": "ge", "below": "lt", "at_most": "le", "is": "eq"}
SIDES = tuple(_OPERATORS)


class Bound(Strict):
    """One limit and what lies beyond it; the tier is the highest that a rule may give on it alone."""

    above: Number | None = Field(None, description="the value is greater than this")
    at_least: Number | None = Field(None, description="the value is this or greater")
    below: Number | None = Field(None, description="the value is less than this")
    at_most: Number | None = Field(None, description="the value is this or less")
    is_: Literally | None = Field(None, alias="is", description="the value is this word")
    tier: Literal["S", "A", "B", "note"]
    then: str = Field(min_length=8, description="what happens to the run")

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        if len(self.sides()) != 1:
            raise ValueError(f"a bound has exactly one of {', '.join(SIDES)}")
        return self

    def sides(self) -> dict[str, Literally]:
        """The side that is given, by its authored name."""
        given = self.model_dump(by_alias=True, exclude_none=True)
        return {name: given[name] for name in SIDES if name in given}

    def breaks(self, value: Literally) -> bool:
        """Whether a value lies beyond the bound."""
        return any(compare(_OPERATORS[side], value, limit) is True for side, limit in self.sides().items())


class Entry(Strict):
    """What is recommended and tolerated under one condition."""

    id: Kebab = Field(description="for life; unique over all parameters")
    name: str = Field(min_length=3, description="the condition in a few words")
    when: Condition | None = Field(None, description="absent: always; the first entry whose condition holds counts")
    recommended: Literally | None = Field(None, description="what to write when nothing speaks for another value")
    range: tuple[Number, Number] | None = Field(None, strict=False, description="[lowest, highest] that is fine")
    set: list[Literally] | None = Field(None, min_length=1, description="the values that are fine")
    tolerance: str | None = Field(None, description="how exact the recommended value is, such as 'x/÷ 3'")
    bounds: list[Bound] = Field([])
    evidence: Literal["measured", "read", "documented", "second-hand"] = Field(
        description="measured by us; read in code or a config of a pinned repository; documented by its authors; or "
        "known at second hand only (then it never gates)"
    )
    conditions: str = Field(min_length=8, description="under which circumstances the numbers were seen to hold")
    sources: list[Source] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.range is None) == (self.set is None):
            raise ValueError("an entry has either a range or a set")
        if self.range and self.range[0] > self.range[1]:
            raise ValueError(f"range {self.range} is upside down")
        if self.recommended is not None and not self.fine(self.recommended):
            raise ValueError(f"recommended {self.recommended!r} is not fine by its own entry")
        if any(bound.breaks(value) for bound in self.bounds if bound.tier != "note" for value in self._marks()):
            raise ValueError("the range or set breaks its own bound")
        if self.evidence == "second-hand" and any(bound.tier != "note" for bound in self.bounds):
            raise ValueError("a second-hand value never gates: its bounds have tier note")
        return self

    def _marks(self) -> list[Literally]:
        """The values by which bounds can be held against the entry itself."""
        return list(self.set or self.range or ())

    def fine(self, value: Literally) -> bool:
        """Whether a value lies in the range or the set."""
        if self.set is not None:
            return value in self.set
        return self.range is not None and not isinstance(value, str) and self.range[0] <= value <= self.range[1]


class ParameterFile(Strict):
    """One parameter of the golden list."""

    parameter: Name
    title: str = Field(min_length=3, description="what people call it")
    unit: str = Field("", description="empty for pure numbers and words")
    why: str = Field(min_length=40, description="what the parameter does to a run, in our own words")
    entries: list[Entry] = Field(min_length=1)
