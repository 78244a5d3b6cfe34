"""golden/precedence.yaml: which of two sources counts, as its authors write it and as `knowledge` loads it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from loralint.authoring.knowledge_rows import Strict, Text
from loralint.canonical.fields import FIELDS

Kind = Literal[
    "flags", "env", "config", "script", "dataset", "deepspeed", "launcher", "accelerate", "manifest", "default"
]
Several = Annotated[list[Text], Field(min_length=1)]


class PrecedenceRow(Strict):
    """One exception from the usual order. framework: names or groups; versions: "trl>=0.22"; empty means any."""

    framework: list[Text] = []  # noqa: RUF012 - pydantic copies it
    launcher: str = ""
    versions: str = ""
    field: Several
    stronger: Annotated[list[Kind], Field(min_length=1)]
    weaker: Annotated[list[Kind], Field(min_length=1)]
    is_: Annotated[Literal["override", "ignored", "conflict"], Field(alias="is")]
    message: Text
    source: Text

    @model_validator(mode="after")
    def _fields_exist(self) -> Self:
        if unknown := [name for name in self.field if name not in FIELDS]:
            raise ValueError(f"no such fields: {unknown}")
        if both := set(self.stronger) & set(self.weaker):
            raise ValueError(f"{sorted(both)} cannot be stronger and weaker at once")
        return self


class PrecedenceFile(Strict):
    """golden/precedence.yaml."""

    groups: dict[str, Several]
    together: list[Several]
    rows: Annotated[list[PrecedenceRow], Field(min_length=1)]


def precedence(file: PrecedenceFile) -> dict[str, object]:
    """The rows by field, groups written out; of two rows that hold the first counts."""
    rows: dict[str, list[object]] = {}
    for row in file.rows:
        frameworks = sorted({name for one in row.framework for name in file.groups.get(one, [one])})
        hot = [frameworks, row.launcher, row.versions, row.stronger, row.weaker, row.is_, row.message]
        for field in row.field:
            rows.setdefault(field, []).append(hot)
    return {"rows": rows, "together": file.together}
