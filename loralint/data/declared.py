"""Which layout of rows a config asks for, by framework."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from loralint.data.shape import Shape, chat, instruct, kto, preference, text
from loralint.run.config import Config
from loralint.source.scalars import plain


class Declared(NamedTuple):
    """What a run reads. shapes: the layouts it takes; empty where the config does not tell, or nobody knows.

    certain: rows of another layout stop the run. by: what in the config says so, in its own words.
    """

    shapes: tuple[Shape, ...] = ()
    certain: bool = False
    by: str = ""


Raw = Mapping[str, Any]


def declared(config: Config, file: str) -> Declared:
    """What the config says of this file of rows."""
    document = config.main.document
    read = _READERS.get(config.reader.name)
    root = plain(document.root, config.reader.dialect) if document.root is not None and read is not None else None
    return read(cast("Raw", root), config, file) if read is not None and isinstance(root, dict) else Declared()


def _axolotl(root: Raw, config: Config, file: str) -> Declared:
    del config
    trained = [one for key in ("datasets", "pretraining_dataset") for one in _list(root.get(key))]
    held_out = [one for one in _list(root.get("test_datasets")) if isinstance(one, dict) and _names(one, file)]
    entries = held_out or [one for one in trained if isinstance(one, dict)]
    named = [one for one in entries if _names(one, file)] or entries
    found = [_axolotl_entry(one, root) for one in named]
    return found[0] if found and all(one == found[0] for one in found) else Declared()


def _names(entry: Raw, file: str) -> bool:
    """Whether an entry names this file, by the last part of a path of its."""
    paths = [*_list(entry.get("path")), *_list(entry.get("data_files"))]
    return os.path.basename(file) in {os.path.basename(path) for path in paths if isinstance(path, str)}


def _axolotl_entry(entry: Raw, root: Raw) -> Declared:
    kind = entry.get("type")
    by = "datasets type"
    if isinstance(kind, dict):
        names = [_text(kind.get(f"field_{part}")) or part for part in ("instruction", "output", "input", "system")]
        # only the instruction is looked up without asking whether it is there
        shape = instruct(names[0], names[1], names[2], names[3])._replace(needs=(names[0],))
        return Declared((shape,), True, by)
    if not isinstance(kind, str) or (root.get("rl") and kind != "chat_template.default"):
        return Declared()
    if kind == "chat_template.default" and root.get("rl"):
        usual = (("messages", "messages"), ("chosen", "chosen"), ("rejected", "rejected"))
        names = [_text(entry.get(f"field_{part}")) or word for part, word in usual]
        return Declared((preference(names[0], names[1], names[2]),), True, by)
    if kind in ("completion", "pretrain"):
        return Declared((text(_text(entry.get("field") or entry.get("text_column")) or "text"),), True, f"{by} {kind}")
    if kind == "chat_template":
        return Declared((_axolotl_chat(entry),), True, f"{by} {kind}")
    shape_of_type = _AXOLOTL_TYPES.get(kind.partition(":")[0])
    return Declared((shape_of_type,), True, f"{by} {kind}") if shape_of_type else Declared()


def _axolotl_chat(entry: Raw) -> Shape:
    mapping = entry.get("message_property_mappings")
    mapping = mapping if isinstance(mapping, dict) else {}
    role = _text(mapping.get("role")) or _text(entry.get("message_field_role")) or "role"
    content = _text(mapping.get("content")) or _text(entry.get("message_field_content")) or "content"
    return chat(_text(entry.get("field_messages")) or "messages", role, content, _roles(entry.get("roles")))


def _roles(roles: object) -> dict[str, str]:
    """`{assistant: [gpt, model]}` the other way round; the tools' names stay what they usually are."""
    if not isinstance(roles, dict):
        return {}
    return {str(one): str(name) for name, others in roles.items() for one in [*_list(others), name]}


_AXOLOTL_TYPES = {
    "alpaca": instruct("instruction", "output", "input"),
    "alpaca_chat": instruct("instruction", "output", "input"),
    "alpaca_instruct": instruct("instruction", "output", "input"),
    "alpaca_chat.load_qa": instruct("question", "answer"),
    "gpteacher": instruct("instruction", "response", "input"),
    "oasst": instruct("INSTRUCTION", "RESPONSE"),
    "summarizetldr": instruct("article", "summary"),
    "nomic": instruct("prompt", "response"),
}


def _llamafactory(root: Raw, config: Config, file: str) -> Declared:
    names = config.get("data.datasets").value
    info = _dataset_info(root, config.main.document.file)
    if not isinstance(names, list) or info is None:
        return Declared()
    known = [(name, info[name]) for name in names if isinstance(name, str) and isinstance(info.get(name), dict)]
    same = [(name, one) for name, one in known if os.path.basename(str(one.get("file_name"))) == os.path.basename(file)]
    chosen = same or (known if len(known) == len(names) == 1 else [])
    return _llamafactory_entry(*chosen[0]) if chosen else Declared()


def _llamafactory_entry(name: str, entry: Raw) -> Declared:
    columns, tags = entry.get("columns"), entry.get("tags")
    by = f"dataset_info.json {name}"
    given = columns if isinstance(columns, dict) else {} if columns is None else None
    if given is None:
        return Declared()
    if entry.get("formatting", "alpaca") == "alpaca":
        usual = {"prompt": "instruction", "query": "input", "response": "output"} if columns is None else {}
        used = {**usual, **{key: _text(one) for key, one in given.items()}}
        prompt, query, answer = used.get("prompt") or "", used.get("query") or "", used.get("response") or ""
        if entry.get("ranking"):
            shape = preference(prompt, used.get("chosen") or "chosen", used.get("rejected") or "rejected")
        elif used.get("kto_tag"):
            shape = kto(prompt, answer, used["kto_tag"])
        elif prompt and answer:
            shape = instruct(prompt, answer, *((query,) if query else ()))
            # the column is looked up whether or not it holds anything
            shape = shape._replace(needs=(*shape.needs, query)) if query else shape
        else:
            shape = text(prompt or answer or "text")
        return Declared((shape,), True, by)
    if entry.get("ranking") or given.get("kto_tag"):
        return Declared()
    tags = tags if isinstance(tags, dict) else {}
    role, content = _text(tags.get("role_tag")) or "from", _text(tags.get("content_tag")) or "value"
    return Declared((chat(_text(given.get("messages")) or "conversations", role, content, _tags(tags)),), True, by)


def _tags(tags: Raw) -> dict[str, str]:
    usual = (("user", "human"), ("assistant", "gpt"), ("observation", "observation"), ("function", "function_call"))
    meaning = {"observation": "tool", "function": "assistant"}
    names = {_text(tags.get(f"{one}_tag")) or word: meaning.get(one, one) for one, word in usual}
    return {**names, _text(tags.get("system_tag")) or "system": "system"}


def _dataset_info(root: Raw, file: str) -> Raw | None:
    """The dataset_info.json that the config names, if it lies inside the folder that loralint or the config is in."""
    folder = _text(root.get("dataset_dir")) or "data"
    beside = os.path.dirname(os.path.abspath(file))
    for base in (os.curdir, beside):
        found = _small_json(os.path.join(base, folder, "dataset_info.json"), base)
        if isinstance(found, dict):
            return found
    return None


def _small_json(path: str, root: str) -> object:
    import json

    from loralint.source.discover import within
    from loralint.source.limits import BYTES
    from loralint.source.read import NotRegularError, open_regular

    if not within(path, root):
        return None
    try:
        with open_regular(path) as file:
            return json.loads(file.read(BYTES))
    except (OSError, ValueError, RecursionError, NotRegularError):
        return None


def _trl(root: Raw, config: Config, file: str) -> Declared:
    """TRL goes by the columns; without a function of the user's own it takes these and no others."""
    del file
    group = str(config.get("train.task").value)
    field = _text(root.get("dataset_text_field")) or "text"
    supervised = (chat("messages"), chat("conversations"), instruct("prompt", "completion"), text(field))
    return Declared(supervised if group == "sft" else _PREFERENCES.get(group, ()), False, "the columns that TRL reads")


_PREFERENCES = {
    "dpo": (preference("prompt"), preference("")),
    "orpo": (preference("prompt"), preference("")),
    "rm": (preference("prompt"), preference("")),
    "kto": (kto("prompt"), preference("prompt")),
}


def _mlx_lm(root: Raw, config: Config, file: str) -> Declared:
    del config, file
    names = [_text(root.get(f"{one}_feature")) for one in ("prompt", "completion", "chat", "text")]
    prompt, completion, turns, whole = (
        name or usual for name, usual in zip(names, ("prompt", "completion", "messages", "text"), strict=True)
    )
    shapes = (instruct(prompt, completion), chat(turns, "role", "content"), text(whole))
    return Declared(shapes, True, "the keys mlx-lm reads")


def _litgpt(root: Raw, config: Config, file: str) -> Declared:
    del config, file
    data = root.get("data")
    name = data.get("class_path") if isinstance(data, dict) else data
    if not isinstance(name, str) or name.rpartition(".")[2] != "JSON":
        return Declared()
    return Declared((instruct("instruction", "output", "input"),), True, "data class JSON")


def _torchtune(root: Raw, config: Config, file: str) -> Declared:
    del config, file
    data = root.get("dataset")
    if not isinstance(data, dict):
        return Declared()
    builder = str(data.get("_component_")).rpartition(".")[2]
    columns = data.get("column_map")
    columns = columns if isinstance(columns, dict) else {}
    if builder == "instruct_dataset":
        shape = instruct(_text(columns.get("input")) or "input", _text(columns.get("output")) or "output")
    elif builder == "alpaca_dataset":
        names = [_text(columns.get(one)) or one for one in ("instruction", "output", "input")]
        shape = instruct(names[0], names[1], names[2])
    elif builder == "chat_dataset" and data.get("conversation_style") in ("sharegpt", "openai"):
        keys = ("from", "value") if data["conversation_style"] == "sharegpt" else ("role", "content")
        shape = chat(_text(data.get("conversation_column")) or "conversations", *keys)
    elif builder == "text_completion_dataset":
        shape = text(_text(data.get("column")) or "text")
    else:
        return Declared()
    return Declared((shape,), True, f"dataset {builder}")


def _h2o(root: Raw, config: Config, file: str) -> Declared:
    del config, file
    data = root.get("dataset")
    prompt = data.get("prompt_column") if isinstance(data, dict) else None
    answer = data.get("answer_column") if isinstance(data, dict) else None
    prompts = [_text(one) for one in _list(prompt)]
    if not prompts or not all(prompts) or not _text(answer):
        return Declared()
    return Declared((instruct(prompts[0], _text(answer), *prompts[1:]),), True, "dataset prompt_column, answer_column")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_READERS: dict[str, Callable[[Raw, Config, str], Declared]] = {
    "axolotl": _axolotl,
    "llamafactory": _llamafactory,
    "trl": _trl,
    "alignment-handbook": _trl,
    "mlx-lm": _mlx_lm,
    "litgpt": _litgpt,
    "torchtune": _torchtune,
    "h2o-llmstudio": _h2o,
}
