"""Since when Transformers knows a model type."""

from pathlib import Path

import yaml

from loralint.knowledge.data import part
from loralint.knowledge.versions import parse

MODELS = Path(__file__).parents[2] / "golden" / "models.yaml"


def test_every_type_is_a_family_of_the_catalogue_and_every_release_one_that_was_read():
    types = part("keys-model_types")
    assert types["since"].keys() <= yaml.safe_load(MODELS.read_text("utf-8"))["families"].keys()
    assert all((4, 30) < parse(release)[:2] < (5, 0) for release in types["since"].values())
