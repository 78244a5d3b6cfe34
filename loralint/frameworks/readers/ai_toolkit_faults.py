"""What ai-toolkit (27a03a91) refuses where one key alone does not tell, the alpha that it passes over, and noise of
another kind than the model's (jobs/process/BaseSDTrainProcess.py, toolkit/stable_diffusion_model.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import family
from loralint.frameworks.table import SKIP, Look, Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template, value

_P = "config.process[0]."
_WITH_ALPHA = ("sd15", "sd2", "sdxl", "pixart", "auraflow")
_OLD = (("is_v2", "sd2"), ("is_xl", "sdxl"), ("is_ssd", "sdxl"), ("is_vega", "sdxl"), ("is_pixart", "pixart"))
# models of its oldest class that learn a flow; the newer classes bring the scheduler along
_FLOWS = frozenset({"flux", "flex1", "sd3", "auraflow", "lumina2"})
_FLOW_SWITCHES = ("is_flux", "is_v3", "is_auraflow", "is_lumina2")
_STRAIGHT = ("flowmatch", "mean_flow")
_FLUX_ONLY = ("attn_masking", "split_model_over_gpus")
_EXCLUSIVE = (
    ("blank_prompt_preservation", "diff_output_preservation"),
    ("do_guidance_loss", "bypass_guidance_embedding"),
)


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe two accumulations, options of Flux with another model, a text encoder that is away, an idle alpha, and
    a noise that the model does not know.
    """
    root = document.root
    return [] if root is None else [*_refused(document, root), *_alpha(document, root), *_noise(document, root)]


def _read(root: Node, key: str) -> object:
    pair = find(root, _P + key)
    return value(pair.value, "mlx") if pair is not None and pair.value.kind == "scalar" else None


def _at(document: Document, root: Node, key: str, kind: str, effect: str, message: str, to: str = "") -> Observation:
    pair = find(root, _P + key)
    assert pair is not None
    rewrite = "value" if to else ""
    return Observation(kind, place(document, pair, _P + key), effect, message, to, rewrite, "ai-toolkit")


def _refused(document: Document, root: Node) -> Iterator[Observation]:
    steps, gathered = _read(root, "train.gradient_accumulation_steps"), _read(root, "train.gradient_accumulation")
    if isinstance(gathered, int) and gathered > 1 and steps not in (None, 1):
        message = "`gradient_accumulation` and `gradient_accumulation_steps` exclude each other"
        yield _at(document, root, "train.gradient_accumulation_steps", "rejected", "crash", message, "1")
    if _read(root, "train.train_text_encoder") is True:
        for key in ("train.unload_text_encoder", "train.diff_output_preservation"):
            if _read(root, key) is True:
                message = f"`{key.partition('.')[2]}` cannot go with a text encoder that trains"
                yield _at(document, root, key, "rejected", "crash", message, "false")
    for key, other in _EXCLUSIVE:
        if _read(root, f"train.{key}") is True and _read(root, f"train.{other}") is True:
            message = f"`{key}` and `{other}` exclude each other"
            yield _at(document, root, f"train.{key}", "rejected", "crash", message, "false")
    for key in _FLUX_ONLY:
        if _read(root, f"model.{key}") is True and _architecture(root) not in ("flux", None):
            message = f"`{key}` is for Flux only"
            yield _at(document, root, f"model.{key}", "rejected", "crash", message, "false")


def _alpha(document: Document, root: Node) -> Iterator[Observation]:
    """Files of transformer models hold no alpha, so that it is the rank."""
    rank = _read(root, "network.rank") or _read(root, "network.linear") or 4
    if _architecture(root) in (*_WITH_ALPHA, None) or _read(root, "network.type") not in ("lora", None):
        return
    for key in ("network.linear_alpha", "network.alpha"):
        alpha = _read(root, key)
        if isinstance(alpha, (int, float)) and alpha != rank:
            message = f"with this architecture alpha is the rank, {rank}, whatever stands here"
            yield _at(document, root, key, "ignored", "lost", message, str(rank))
            return


def _noise(document: Document, root: Node) -> Iterator[Observation]:
    """A scheduler that mixes noise in along a curve, `ddpm` by default, under a model that learns a straight line."""
    named, arch = _read(root, "train.noise_scheduler"), _read(root, "model.arch")
    switch = next((key for key in _FLOW_SWITCHES if _read(root, f"model.{key}") is True), "")
    flows = str(arch).partition(":")[0] in _FLOWS if arch is not None else bool(switch)
    written = find(root, f"{_P}train.noise_scheduler")
    curved = written is None or (isinstance(named, str) and named not in _STRAIGHT and not is_template(named))
    if not flows or not curved:
        return
    key = "train.noise_scheduler" if written is not None else f"model.{switch or 'arch'}"
    name = named if written is not None else "ddpm, which it is when nobody writes it"
    yield _at(document, root, key, "curved-noise", "changed", "")._replace(data={"name": name})


def _architecture(root: Node) -> str | None:
    """The architecture that is named; None where nothing is, which is a Stable Diffusion 1."""
    found = family(_read(root, "model.arch"))
    if found is not SKIP:
        return str(found)
    names = {"is_flux": "flux", "is_v3": "sd3", "is_lumina2": "lumina2", **dict(_OLD)}
    return next((name for key, name in names.items() if _read(root, f"model.{key}") is True), None)
