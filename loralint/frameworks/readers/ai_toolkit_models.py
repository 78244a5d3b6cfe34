"""What ai-toolkit (27a03a91) refuses for the model that is named: no pictures to edit, an adapter of another model.

Sources: toolkit/config_modules.py (validate_configs), toolkit/util/quantize.py (quantize_model), and the models' own
get_prompt_embeds under extensions_built_in/diffusion_models.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.document import Document, Node
from loralint.source.scalars import value

_P = "config.process[0]."
# models that read the pictures to edit together with the prompt, and stop without any
_EDITS = frozenset({"qwen_image_edit_plus", "boogu_image_edit"})
# those of them, and kin, whose text encoder has to stay for that
_READS = frozenset({"qwen_image_edit", "boogu_image_edit"})
_CONTROLS = ("control_path", "control_path_1", "control_path_2", "control_path_3", "controls")
_RECOVERY = "ostris/accuracy_recovery_adapters/"
# start of such a file's name -> start of the architectures with layers of these names
_MADE_FOR = {"qwen_image": "qwen_image", "wan22_14b": "wan2", "hidream": "hidream"}


def observe_models(document: Document, _: Look) -> list[Observation]:
    """Observe all of that; nothing where no architecture is named."""
    root = document.root
    arch = str(_read(root, "model.arch") or "").partition(":")[0] if root is not None else ""
    if root is None or not arch:
        return []
    return [*_unpaired(document, root, arch), *_unloaded(document, root, arch), *_recovered(document, root, arch)]


def _read(root: Node, key: str) -> object:
    pair = find(root, _P + key)
    return value(pair.value, "mlx") if pair is not None and pair.value.kind == "scalar" else None


def _at(document: Document, root: Node, key: str, message: str, advice: str) -> Observation:
    pair = find(root, _P + key)
    assert pair is not None
    return _rejected(place(document, pair, _P + key), message, advice)


def _rejected(where: Value, message: str, advice: str) -> Observation:
    return Observation("rejected", where, "crash", message, package="ai-toolkit", data={"advice": advice})


def _unpaired(document: Document, root: Node, arch: str) -> Iterator[Observation]:
    datasets = find(root, f"{_P}datasets")
    for index, item in enumerate(datasets.value.items if arch in _EDITS and datasets is not None else ()):
        given = [item.get(key) for key in _CONTROLS] if item.kind == "mapping" else [item]
        if not any(one is not None and (one.raw or one.items) for one in given) and item.pairs:
            message = f"{arch} learns from pairs, and no `control_path` says where the pictures before the edit are"
            span, key = document.span(item.pairs[0].key_node), f"{_P}datasets[{index}].control_path"
            pointer = f"/config/process/0/datasets/{index}/control_path"
            advice = "add `control_path` with their folder, each under the name of its picture after the edit"
            yield _rejected(Value(None, key=key, pointer=pointer, span=span), message, advice)


def _unloaded(document: Document, root: Node, arch: str) -> Iterator[Observation]:
    if arch in _READS and _read(root, "train.unload_text_encoder") is True:
        message = f"{arch} reads the pictures to edit with its text encoder, so it cannot be unloaded"
        yield _at(document, root, "train.unload_text_encoder", message, "write unload_text_encoder: false")


def _recovered(document: Document, root: Node, arch: str) -> Iterator[Observation]:
    """The adapter behind the bits of `qtype`, which holds layers of one model by their names."""
    _, bar, file = str(_read(root, "model.qtype") or "").partition("|")
    name = file.removeprefix(_RECOVERY)
    meant = next((wanted for start, wanted in _MADE_FOR.items() if name.startswith(start)), "")
    on = _read(root, "model.quantize") is True and bar and name != file
    if on and meant and not arch.startswith(meant):
        message = f"the adapter `{name}` is made for {meant}*, and finds no layer of {arch}"
        yield _at(document, root, "model.qtype", message, "write `qtype: qfloat8`, or name the adapter of this model")
