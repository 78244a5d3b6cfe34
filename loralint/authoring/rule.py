"""The authored form of a rule: one YAML file under rules/<topic>/; `schema` makes the JSON Schema for editors of it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from loralint.authoring import conditions, names

VOCABULARY = "x-vocabulary"
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_SOURCE = (
    r"https?://\S|arXiv:\d{4}\.\d{4,5}|\S@\S|\S#\d|\b[a-z][\w.-]* v?\d+\.\d|^measured here: |^computed: "
    r"|^docs/claims\.md#c\d\d$"
)


def _condition(condition: dict[str, Any]) -> dict[str, Any]:
    conditions.normal(condition)
    return condition


def _text(text: str) -> str:
    for inner in PLACEHOLDER.findall(text):
        kind, _, name = inner.rpartition(":")
        if kind in ("key", "or"):
            names.check_field(name)
        elif kind == "get":
            names.check_name(name)
        elif kind == "write":
            for one in name.split(","):
                field, _, value = one.partition("=")
                names.check_field(field.strip())
                if not value:
                    raise ValueError(f"{{{inner}}} says no value: {{write:field=value}}")
        elif kind or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError(
                f"{{{inner}}} is no placeholder: {{word}}, {{key:field}}, {{or:field}}, {{get:field or fact}}, "
                "{write:field=value}"
            )
    return text


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """Names in the places where every template takes names: field, left, parameter, fields, and {field: name}."""
    named = [one for one in given.values() if isinstance(one, dict) and set(one) - {"unsigned", "else"} == {"field"}]
    references = [one["field"] for one in named]
    for name in (
        *(given[key] for key in ("field", "left", "parameter") if key in given),
        *given.get("fields", ()),
        *references,
    ):
        names.check_name(name)
    return given


def spelled_out(definition: str) -> WithJsonSchema:
    """In the exported schema, a reference to one of `schema`'s definitions (pydantic refuses one it has not made)."""
    return WithJsonSchema({VOCABULARY: definition})


Condition = Annotated[dict[str, Any], AfterValidator(_condition), spelled_out("Condition")]
Arguments = Annotated[dict[str, Any], AfterValidator(_arguments)]
CanonicalField = Annotated[str, AfterValidator(names.check_field), spelled_out("CanonicalField")]
Name = Annotated[str, AfterValidator(names.check_name), spelled_out("Name")]
Text = Annotated[str, Field(min_length=8), AfterValidator(_text)]
Kebab = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Place = Annotated[str, AfterValidator(names.check_place), spelled_out("CanonicalField")]
Template = Annotated[str, AfterValidator(names.check_template)]
Tier = Literal["S", "A", "B", "note"]
Source = Annotated[
    str,
    Field(
        pattern=_SOURCE,
        description="URL, arXiv:2305.14314, repository@commit path, package version path, repository#issue, "
        "'measured here: how', 'computed: from what', or docs/claims.md#c07, the popular claim that a rule corrects",
    ),
]
Spec = Annotated[str, Field(pattern=r"^\??(<|<=|>|>=|==|!=)\d[\w.]*(,(<|<=|>|>=|==|!=)\d[\w.]*)*$")]


class Strict(BaseModel):
    """No key that is not defined, and no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Applies(BaseModel):
    """Where a rule holds: the engine decides it, the rule never tests it. Further keys are packages with a spec, as
    ">=5"; "?<5" holds as well where nobody pinned the package.
    """

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)
    __pydantic_extra__: dict[str, Spec]

    framework: list[str] | None = Field(None, min_length=1, description="readers it is for; absent means all")
    method: list[str] | None = Field(None, min_length=1, description="adapter.method is one of these, such as [lora]")
    task: list[str] | None = Field(None, min_length=1, description="train.task is one of these, such as [dpo, kto]")


class Level(Strict):
    """One tier and when it holds; the first level that holds counts."""

    tier: Tier
    when: Condition | None = Field(None, description="absent in the last level: always")


class FixModel(Strict):
    """What a machine may write. Sets values, removes keys, or carries out an observation."""

    set: dict[CanonicalField, Any] = Field({}, description='field: literal, or "{suggest}" of the check')
    remove: list[CanonicalField] = Field([], description="fields whose key goes")
    rewrite: bool = Field(default=False, description="do with an observed key or value what the reader proposes")
    safe: bool = Field(description="the run's meaning is kept, or was certainly not meant")

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not self.set and not self.remove and not self.rewrite:
            raise ValueError("a fix sets, removes or rewrites something")
        return self


class Finds(Strict):
    """The finding that a bad example gives."""

    key: str = Field(description="dotted key that the finding is at, as the user wrote or would write it")
    line: int = Field(ge=1, description="line of the example, from 1")
    tier: Tier | None = Field(None, description="needed where the rule has levels")
    fixed: str | None = Field(None, description="a line that the file holds after the fix; the rule is then silent")


class Given(Strict):
    """What the caller of loralint says beside the file."""

    gpu: str | None = Field(None, description="--gpu, such as T4 or A100-80GBx8")
    target: dict[str, str] = Field({}, description='--target, such as {transformers: "5.24"} (quoted)')
    rows: int | None = Field(None, ge=1, description="--rows, rows of training data")
    runs: int = Field(1, ge=1, description="how many runs the text is, for rules on several of one file")
    padding: int = Field(0, ge=0, description="blanks appended to the file, for rules on its size")
    data: dict[str, str] = Field({}, description="--data, name of the file: its text; `finds` then gives its line")
    eval_data: dict[str, str] = Field({}, description="--eval-data, likewise")
    companions: dict[str, str] = Field({}, description="--with, name of the file: its text")
    files: dict[str, str] = Field(
        {}, description="files that only lie there, path below the example's folder: its text"
    )
    env: dict[str, str] = Field({}, description="--env, name of the variable: its value")
    probe: bool = Field(default=False, description="--probe, on the embedded model")
    log: bool = Field(default=False, description="the text is a training's log, for `loralint watch`")
    needs: str | None = Field(None, description="package of an extra without which the rule is not checked")


class Example(Strict):
    """A config that the rule finds fault with, or one near it that is right; each is a test and stands in `explain`."""

    bad: dict[str, str] | None = Field(None, min_length=1, max_length=1, description="framework: text of the file")
    good: dict[str, str] | None = Field(None, min_length=1, max_length=1, description="framework: text of the file")
    finds: Finds | None = None
    options: Given = Given()

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.bad is None) == (self.good is None):
            raise ValueError("an example is either bad or good")
        if (self.bad is None) != (self.finds is None):
            raise ValueError("a bad example says what it finds, a good one finds nothing")
        rows = {**self.options.data, **self.options.eval_data}.values()
        texts = [*(rows or (self.bad or self.good or {}).values()), *self.options.companions.values()]
        text = max(texts, key=lambda one: len(one.splitlines()))
        if self.finds and self.finds.line > max(1, len(text.splitlines())):
            raise ValueError(f"finds line {self.finds.line} of a text with {len(text.splitlines())} lines")
        return self


class RuleFile(Strict):
    """One rule."""

    id: str = Field(pattern=r"^LL\d{3}$", description="LL and three digits; for life, never used again")
    name: Kebab = Field(description="kebab-case, names the fault; the file is called <id>-<name>.yaml")
    since: str = Field(pattern=r"^\d+\.\d+\.\d+$", description="release that it first came with")
    preview: bool = Field(default=False, description="true while it proves itself: off unless asked for")
    applies: Applies = Applies()
    when: Condition | None = Field(None, description="what must hold before the check runs; all keys must hold")
    each: Name | None = Field(None, description="run once per item of this list; conditions and checks call it `item`")
    at: Place | list[Place] = Field(
        [], description="where the finding points: the first that is set, else the first; absent: the check says"
    )
    uses: Template = Field(description="check template, see loralint.checks.TEMPLATES")
    with_: Arguments = Field({}, alias="with", description="the template's arguments; {field: name} is a value")
    tier: Tier | None = Field(None, description="S blocks, A needs approval, B is cosmetic, note is no finding")
    levels: list[Level] | None = Field(None, min_length=1, description="the first that holds; none holding: no finding")
    message: Text = Field(description="first words: what will happen to the run; then why. {value} {key} {get:field}")
    help: Text = Field(description="what to write, such as: write {key:adapter.alpha}: {suggest}")
    fix: FixModel | None = None
    symptoms: list[str] = Field([], description="error texts or behaviour that a user would search for")
    why: str = Field(min_length=40, description="the mechanism and what the bound rests on, in our own words")
    sources: list[Source] = Field(min_length=1)
    examples: list[Example] = Field(min_length=2)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.tier is None) == (self.levels is None):
            raise ValueError("a rule has either a tier or levels")
        if self.when and any(map(names.is_of_hit, conditions.names(conditions.normal(self.when)))):
            raise ValueError("hit.* is known in levels only, after the check")
        if self.levels and any(level.when is None for level in self.levels[:-1]):
            raise ValueError("only the last level may hold always")
        if not any(example.bad for example in self.examples) or not any(example.good for example in self.examples):
            raise ValueError("examples hold at least one bad and one good config")
        return self
