"""CEL of the API server's policy: which texts of a ConfigMap are looked at, and whether a rule holds in one.

Every write of a ConfigMap pays for these, so what rules a good text out at once comes first: a key that is not in it, a
line without the faulty value. A pattern that starts with a line's end and its key is found by searching for these
letters. Each text gets a line's end before it, so that its first line has one, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.authoring.policy_lines import Held, Line

# Frameworks whose files are flat, and the keys that tell them from others; none of the second may be there.
SIGNATURES = {
    "axolotl": (
        ["base_model", "adapter"],
        [
            "apiVersion",
            "model_name_or_path",
            "stage",
            "finetuning_type",
            "plugins",
            "input_features",
            "output_features",
        ],
    ),
    "llamafactory": (["model_name_or_path", "stage", "finetuning_type"], ["apiVersion", "sft_type", "tuner_type"]),
}
YAML = r"key.matches(r'\.ya?ml$')"
# A text that holds one of these is not judged: templates, several documents, merges, exceptions of its author, and
# quotes and brackets that end on another line, within which a line need not be a key.
_UNCLEAR = (
    r"\{\{|\$\{|<%|[^\n]\n+---|<<:|loralint|"
    r"(?m:(?:: |- |^)[\x22][^\x22\n]*$)|(?m:(?:: |- |^)[\x27][^\x27\n]*$)|(?m:(?:: |- |^)[\[{][^\]}\n]*$)"
)
_LONGEST = 32768


def variables() -> Iterator[dict[str, str]]:
    """The texts that are looked at, and those of each framework, now and before. None is worked out unless it is asked.

    `texts` holds all that are not too long; only those of the frameworks are told to be clear.
    """
    for name, source in (("", "object"), ("_before", "oldObject")):
        texts = rf"{source}.data.filter(key, {YAML}).map(key, '\n' + {source}.data[key])"
        there = f"{source} != null && has({source}.data)"
        yield {
            "name": f"texts{name}",
            "expression": f"{there} ? {texts}.filter(text, size(text) <= {_LONGEST}) : []",
        }
        for framework, (wanted, barred) in SIGNATURES.items():
            signs = [*map(_written, wanted), *(f"!{_written(key)}" for key in barred), f"!{_matches(_UNCLEAR)}"]
            yield {
                "name": f"{framework}{name}",
                "expression": f"variables.texts{name}.filter(text, {' && '.join(signs)})",
            }


def expression(framework: str, held: Held) -> str:
    """False where the rule holds for a text now and did for none before: what was bad already stays editable.

    The first part answers for nearly all texts.
    """
    first = " && ".join(_has(line) for line in held.lines)
    rest = [*(f"!{_twice(line.key)}" for line in held.lines), *(f"!{_written(key)}" for key in held.others)]
    rest += [f"!{_matches(_line(line.key, line.but))}" for line in held.lines if line.but]
    bad = " && ".join([first, *rest])
    return (
        f"!variables.texts.exists(text, {first}) || !variables.{framework}.exists(text, {bad})"
        f" || variables.{framework}_before.exists(text, {bad})"
    )


def _has(line: Line) -> str:
    return f"{_contains(line.key)} && {_matches(_line(line.key, line.pattern))}"


def _line(key: str, value: str) -> str:
    return rf"\n{key}: +{value} *(?:#[^\n]*)?\r?(?:\n|$)"


def _written(key: str) -> str:
    begun = _matches(rf"\n{key} *:")
    return f"({_contains(key)} && {begun})"


def _twice(key: str) -> str:
    return _matches(rf"(?s)\n{key} *:.*\n{key} *:")


def _contains(key: str) -> str:
    return rf"text.contains('\n{key}')"


def _matches(pattern: str) -> str:
    return f"text.matches(r'{pattern}')"
