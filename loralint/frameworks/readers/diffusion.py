"""What the readers of diffusion trainers share: names of architectures, sizes of pictures, words in one text."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from loralint.frameworks.convert import never
from loralint.frameworks.table import SKIP, Entry
from loralint.model import Unknown, Value

# one canonical name for what trainers call otherwise; what is not listed keeps its name
FAMILIES = {
    "sd1": "sd15", "sd1x": "sd15", "sd2x": "sd2", "pixart_sigma": "pixart", "pixart_alpha": "pixart",
    "hunyuanvideo": "hunyuan_video", "zimage": "z_image", "z-image": "z_image", "qwen": "qwen_image",
    "flux_kontext": "flux", "flex1": "flux", "flex2": "flux", "wan21": "wan", "qwen_image_edit": "qwen_image",
    "qwen_image_edit_plus": "qwen_image", "hidream_e1": "hidream", "hidream_o1": "hidream", "chroma_radiance": "chroma",
    "ssd": "sdxl", "vega": "sdxl",
}  # fmt: skip
TASK = Entry("train.task", "", write=never, default="diffusion")
# the same for files that are but a part, in which no default counts
KNOWN_TASK = {"train.task": (Value("diffusion", "derived", field="train.task"),)}


def family(word: object) -> object:
    """Read an architecture's name; `wan22_14b:i2v` is Wan, and Flux.2's sizes are one family."""
    if not isinstance(word, str) or not word:
        return SKIP
    name = word.strip().lower().partition(":")[0]
    if name.startswith(("wan2", "flux2")):
        return "wan" if name.startswith("wan") else "flux2"
    return FAMILIES.get(name, name)


def edge(size: object) -> object:
    """Edge of the square that has the area of `1024`, "1024,768", "832x1216" or of the largest of a list."""
    if isinstance(size, list):
        edges = [one for one in map(edge, size) if isinstance(one, (int, float))]
        return max(edges, default=SKIP)
    if isinstance(size, str):
        numbers = [part.strip() for part in size.lower().replace("x", ",").split(",") if part.strip()]
        if not 1 <= len(numbers) <= 2 or not all(part.isdigit() and len(part) < 6 for part in numbers):
            return SKIP
        size = round(sqrt(int(numbers[0]) * int(numbers[-1])))
    return size if isinstance(size, (int, float)) and not isinstance(size, bool) and size > 0 else SKIP


def longest(size: object) -> object:
    """Longer side of `1024` or "1024,768"."""
    if isinstance(size, str):
        sides = [part.strip() for part in size.split(",")]
        return max(map(int, sides)) if len(sides) <= 2 and all(map(_is_side, sides)) else SKIP
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else SKIP


def _is_side(text: str) -> bool:
    return text.isdigit() and len(text) < 6


def positive(number: object) -> object:
    """Read 0 and an empty text as a value that is not set."""
    return number if isinstance(number, (int, float)) and not isinstance(number, bool) and number > 0 else SKIP


def mixed(wanted: str) -> Callable[[object], object]:
    """Read `mixed_precision` as the switch of one format; accelerate's "no" and its kin switch both off."""
    return lambda word: word.lower() == wanted if isinstance(word, str) else SKIP if word is None else False


def written_mixed(wanted: str) -> Callable[[object], object]:
    """Write the format that is on, and "no" where this one goes off."""
    return lambda on: wanted if on is True else "no" if on is False else SKIP


def arguments(text: object) -> object:
    """Read `a=1 b=2`, `a=1,b=2` or a list of such words as a mapping of texts."""
    if isinstance(text, str):
        text = text.replace('"', " ").split() if " " in text or "," not in text else text.split(",")
    if not isinstance(text, list):
        return text if isinstance(text, dict) else SKIP
    pairs = [word.partition("=") for word in text if isinstance(word, str) and "=" in word]
    return {key.strip(): value.strip() for key, _, value in pairs} or SKIP


def first(values: tuple[Value, ...]) -> object:
    """What the winning value says; None where nobody says anything or it is filled in later."""
    return None if not values or isinstance(values[0].value, Unknown) else values[0].value
