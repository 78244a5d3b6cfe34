"""Names of optimizers and schedules, by what each of kohya's trainers finds."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.kohya_words import MUSUBI, SD_SCRIPTS, observe_words
from loralint.frameworks.table import Look
from loralint.model import Value
from loralint.source.read import read_text

LOOK = Look(lambda field: Value(None, "absent", field=field), lambda _: False)


def told(known, text):
    found = observe_words(known)(read_text(text, "config.toml"), LOOK)
    return [(one.value.key, one.value.value, one.replacement) for one in found]


@pytest.mark.parametrize(
    ("known", "name", "meant"),
    [
        (SD_SCRIPTS, "AdamW8bits", "AdamW8bit"),
        (SD_SCRIPTS, "CAME", ""),
        (SD_SCRIPTS, "Adam8bit", "AdamW8bit"),
        (SD_SCRIPTS, "rmsprop", "RMSprop"),  # a class of torch.optim, whose names are compared as they are
        (MUSUBI, "prodigy", "prodigyopt.Prodigy"),
        (MUSUBI, "Lion", "lion_pytorch.Lion"),
        (MUSUBI, "adamw8bitt", "AdamW8bit"),
    ],
)
def test_an_optimizer_that_nobody_has_is_named(known, name, meant):
    assert told(known, f'optimizer_type = "{name}"\n') == [("optimizer_type", name, meant)]


@pytest.mark.parametrize(
    ("known", "name"),
    [
        (SD_SCRIPTS, "prodigy"),
        (SD_SCRIPTS, "DAdaptLion"),
        (SD_SCRIPTS, "adamwschedulefree"),
        (SD_SCRIPTS, "RMSprop"),
        (SD_SCRIPTS, "pytorch_optimizer.CAME"),
        (SD_SCRIPTS, ""),
        (MUSUBI, "adamw8bit"),
        (MUSUBI, "prodigyopt.Prodigy"),
        (MUSUBI, "NAdam"),
        (MUSUBI, "$OPTIMIZER"),
    ],
)
def test_one_that_is_found_is_not(known, name):
    assert told(known, f'optimizer_type = "{name}"\n') == []


@pytest.mark.parametrize(
    ("known", "text", "meant"),
    [
        (SD_SCRIPTS, 'lr_scheduler = "cosin"', ["cosine"]),
        (SD_SCRIPTS, 'lr_scheduler = "Cosine"', ["cosine"]),
        (SD_SCRIPTS, 'lr_scheduler = "rex"', [""]),
        (MUSUBI, 'lr_scheduler = "rex"', []),
        (SD_SCRIPTS, 'lr_scheduler = "cosine_with_min_lr"', []),
        (SD_SCRIPTS, 'lr_scheduler = "adafactor:1e-4"', []),
        # a class stands in for the word, or nothing is scheduled
        (SD_SCRIPTS, 'lr_scheduler = "own"\nlr_scheduler_type = "CosineAnnealingLR"', []),
        (SD_SCRIPTS, 'lr_scheduler = "own"\noptimizer_type = "AdamWScheduleFree"', []),
    ],
)
def test_a_schedule_that_nobody_has(known, text, meant):
    assert [one[2] for one in told(known, text + "\n")] == meant
