"""What kohya's scripts and the window around them share: kinds of networks, rates by part, and what 0 stands for.

A network of alpha 0 has alpha = dim; a rate of 0 leaves that part out; a part without a rate takes the common one.
Sources: kohya-ss/sd-scripts 0.10 networks/lora.py, train_network.py, library/train_util.py.
"""

from __future__ import annotations

from loralint.frameworks.readers.diffusion import first
from loralint.frameworks.table import Values
from loralint.model import Unknown, Value

_NETWORKS = {"locon": "lora", "dylora": "dylora", "oft": "oft", "oft_flux": "oft", "loha": "loha", "lokr": "lokr"}
_LYCORIS = {
    "lora": "lora", "locon": "lora", "loha": "loha", "lokr": "lokr", "ia3": "ia3", "dylora": "dylora", "glora": "glora",
    "full": "full", "diag-oft": "oft", "boft": "boft",
}  # fmt: skip
_FAMILIES = {
    "lora_flux": "flux", "oft_flux": "flux", "lora_sd3": "sd3", "lora_lumina": "lumina2", "lora_anima": "anima",
    "lora_hunyuan_image": "hunyuan_image", "lora_wan": "wan", "lora_framepack": "framepack", "lora_flux_2": "flux2",
    "lora_qwen_image": "qwen_image", "lora_zimage": "z_image", "lora_krea2": "krea2", "lora_kandinsky": "kandinsky5",
    "lora_hv_1_5": "hunyuan_video_1_5", "lora_hidream_o1": "hidream_o1", "lora_ideogram4": "ideogram4",
}  # fmt: skip

_PLAIN = ("networks.lora", "networks.lora_fa", "networks.dylora", "networks.oft")


def network(module: object, algo: object = None) -> str:
    """The method behind `network_module`; LyCORIS has its kind in `network_args`, LoCon unless it is said."""
    name = str(module).rpartition(".")[2]
    if str(module).startswith("lycoris"):
        return _LYCORIS.get(str(algo or "locon").lower(), str(algo))
    return _NETWORKS.get(name, "lora" if name.startswith("lora") else name)


def made_for(module: Value, plain: str) -> dict[str, tuple[Value, ...]]:
    """The architecture that a network is made for; plain: that of `networks.lora`. LyCORIS' networks fit several."""
    name = str(module.value)
    family = _FAMILIES.get(name.rpartition(".")[2], plain if name in _PLAIN else None)
    return {"adapter.architecture": (module._replace(value=family, field="adapter.architecture"),) if family else ()}


def rate(value: object) -> object:
    """Read a rate; an empty text is 0, of several the first is CLIP-L's."""
    if isinstance(value, list):
        value = value[0] if value else 0.0
    return 0.0 if value in ("", None) else value


def alpha(values: Values) -> dict[str, tuple[Value, ...]]:
    """Alpha 0 is the rank."""
    given, rank = values.get("adapter.alpha", ()), values.get("adapter.rank", ())
    if first(given) != 0 or not rank:
        return {}
    return {"adapter.alpha": (given[0]._replace(value=rank[0].value),)}


def relative_step(values: Values) -> dict[str, tuple[Value, ...]]:
    """Adafactor's own rate, which `optimizer_args` may switch off."""
    name, given = values.get("optim.name", ()), values.get("optim.args", ())
    if first(name) != "adafactor":
        return {}
    options = first(given)
    on = not isinstance(options, dict) or str(options.get("relative_step", True)).lower() != "false"
    return {"optim.relative_step": ((given or name)[0]._replace(value=on, items=(), field="optim.relative_step"),)}


def rates(values: Values) -> dict[str, tuple[Value, ...]]:
    """One rate for what trains: the denoiser's, that of the text encoder where only it trains, else the common one."""
    by_key = {value.key: value for value in values.get("optim.lr", ())}
    text = next(iter(values.get("optim.text_encoder_lr", ())), None)
    unet, common = by_key.get("unet_lr"), by_key.get("learning_rate")
    fields: dict[str, tuple[Value, ...]] = {}
    if unet is not None and not _zero(unet):
        fields["optim.lr"] = (unet,)
    elif unet is not None and text is not None and not _zero(text):
        fields["optim.lr"] = (text._replace(field="optim.lr"),)
    elif common is not None:
        fields["optim.lr"] = (common,)
    elif unet is not None:
        fields["optim.lr"] = ()
    if text is not None and _zero(text):
        fields["optim.text_encoder_lr"] = ()
    return fields


def _zero(value: Value) -> bool:
    return not isinstance(value.value, Unknown) and value.value == 0
