"""Fills the placeholders of messages and helps; text quoted from a config is made harmless first.

{name}            a name of the hit's data, or one of value, key, suggest, framework
{key:field}       the key of a canonical field as a user of this framework writes it
{or:field}        " or " and that key; nothing where this framework has none, which may refuse what it does not know
{get:field}       its present value
{write:field=it}  the setting as this user would write it: `use_peft: true` for adapter.method=lora

A key with a colon and a value behind it is a setting too, and is shown as its part of the run would have it: `r: 8`,
`--lora_r 8` or `LoraConfig(r=8)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from loralint.checks.hit import Hit, Settings
from loralint.checks.observation import advice
from loralint.facts.scope import Scope
from loralint.model import Unknown, Value
from loralint.run.config import Config
from loralint.run.spelling import is_switch, setting
from loralint.source.clean import clean
from loralint.source.literal import key_text, pair_shown
from loralint.source.secrets import mask
from loralint.source.shown import shown

_PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::([^{}]+))?\}")
_SETTING = re.compile(r"\{key(?::([^{}]+))?\}: (\{suggest\}|\{get:[a-z_.]+\}|\[[^\[\]{}]*\]|[\w+-]+(?:\.\w+)*)")


def fill(text: str, hit: Hit, config: Config, scope: Scope) -> str:
    """The text with every placeholder filled. An unknown name stays as it is; authoring refuses such rules."""
    names: Mapping[str, object] = {
        "value": written(hit.at),
        "key": hit.at.key or (config.key(hit.at.field) if hit.at.field else ""),
        "suggest": hit.suggest,
        "framework": config.reader.title,
        **hit.data,
    }

    def one(match: re.Match[str]) -> str:
        name, field = match.groups()
        if field is None and name != "key":
            told = names.get(name, match.group())
            if isinstance(told, Settings):
                return clean(setting(config, told.wanted, every=True))
            return shown(told) if name in names else match.group()
        if name == "key":
            return clean(key_text(config.key(field) if field else str(names["key"]), _format(hit, field, config)))
        return _of_field(name, str(field), hit, config, scope)

    def pair(match: re.Match[str]) -> str:
        field, value = match.groups()
        key = config.key(field) if field else str(names["key"])
        if value == "false" and is_switch(config.get(field) if field else hit.at):
            return clean(f"no {key_text(key, _format(hit, field, config))}")
        return clean(pair_shown(key, _told(value, hit, scope), _format(hit, field, config)))

    style = _format(hit, None, config)
    if style not in _CONFIGS:
        text = _SETTING.sub(pair, text)
        if hit.observation is not None and "advice" not in hit.observation.data:
            names = {**names, "advice": advice(hit.observation, lambda key, told: pair_shown(key, told, style), "")}
    return _PLACEHOLDER.sub(one, text)


def _of_field(name: str, field: str, hit: Hit, config: Config, scope: Scope) -> str:
    """The placeholder {name:field}."""
    if name == "or":
        return clean(f" or {key_text(config.key(field), _format(hit, field, config))}") if config.has(field) else ""
    return clean(setting(config, field)) if name == "write" else shown(scope.get(field).value)


def _told(value: str, hit: Hit, scope: Scope) -> str:
    """The value of a setting: as it stands in the rule, the suggestion, or the present value of a field."""
    if value[0] != "{":
        return value
    return shown(hit.suggest if value == "{suggest}" else scope.get(value[5:-1]).value)


_CONFIGS = frozenset({"yaml", "json"})


def _format(hit: Hit, field: str | None, config: Config) -> str:
    """How the part of the run is written that holds a key, or would hold it."""
    if len(config.layers) == 1 or not config.layers:
        return config.layers[0].document.format if config.layers else "yaml"
    if field or hit.at.field:
        return config.home(field or hit.at.field).document.format
    return config.holder(hit.at.span).format


def written(value: Value) -> object:
    """What stands in the file, else the effective value; a long text is cut by `shown`."""
    if is_switch(value):
        return value.value
    in_cell = value.span is not None and value.span.cell is not None  # the text has the escapes of the notebook's JSON
    as_written = value.text is not None and not in_cell and "\n" not in value.text
    if as_written and "$" in str(value.text) and not isinstance(value.value, (str, Unknown)):
        as_written = False  # `$LR` of a shell, whose value stands elsewhere
    told = value.text if as_written else value.value
    return mask(value.key, told) if isinstance(told, str) else told


def supposing(message: str, assumed: str) -> str:
    """The message with the version that it rests on in its headline, which holds for that version only."""
    effect, colon, cause = message.partition(": ")
    return f"{effect}, judged by {assumed}, which nobody pinned{colon}{cause}"


def pinning(assumed: str) -> str:
    """The other way out for a file that an older release takes as it is."""
    return f", or pin the {assumed.split(maxsplit=1)[0]} that it was written for"
