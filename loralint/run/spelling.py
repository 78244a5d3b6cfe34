"""How the users of a framework write a canonical field, without a file at hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from loralint.frameworks.detect import by_name, reader
from loralint.model import Value
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.versions import versions_of
from loralint.source.literal import key_text, pair_shown, scalar_text


def keys_of(framework: str) -> Callable[[str], str]:
    """Canonical field -> dotted key at the framework's newest known release; the field itself where it has none.

    What holds `=` is a setting, or several with commas between: see `setting`.

    Raises ValueError for a framework that is not known.
    """
    found = reader(by_name(framework))
    config = Config(found, (), Options(), versions_of(found.name, {}))
    return lambda wanted: setting(config, wanted) if "=" in wanted else config.key(wanted)


def setting(config: Config, wanted: str, *, every: bool = False) -> str:
    """`adapter.method=lora` as the users of this framework write it: "use_peft: true".

    Several, with commas between, are joined by "and"; those that the framework cannot write are left out, and when it
    can write none, all stand there with the plain keys. `every`: those that it cannot write stand there so as well.
    """
    pairs = [(field.strip(), text) for field, _, text in (one.partition("=") for one in wanted.split(","))]
    written = [(field, config.write(field, _literal(text))) for field, text in pairs]
    if every and any(pair is None for _, pair in written):
        return " and ".join(setting(config, one) for one in wanted.split(","))
    last = {pair[0]: (field, *pair) for field, pair in written if pair is not None}  # one key may say two of them
    known = [_as_written(config, *one) for one in last.values()]
    return " and ".join(dict.fromkeys(known) or [_plain(config, field, text) for field, text in pairs])


def is_switch(value: Value) -> bool:
    """Whether a value is a flag without a word behind it, which is on where it stands and off where it does not."""
    return value.value is True and value.text is not None and value.text.startswith("-")


def _as_written(config: Config, field: str, key: str, value: object) -> str:
    style = config.home(field).document.format if config.layers else "yaml"
    if value is False and is_switch(config.get(field)):
        return f"no {key_text(key, style)}"
    return pair_shown(key, repr(value) if style == "python" else scalar_text(value, "yaml"), style)


def _plain(config: Config, field: str, text: str) -> str:
    """What cannot be written by machine; a flag is followed by its value."""
    flag = config.versions.rows(config.reader, field).key
    return f"{flag} {text}" if flag.startswith("--") else f"{config.key(field)}: {text}"


def _literal(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text
