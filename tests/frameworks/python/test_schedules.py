"""Keywords for a schedule."""

from __future__ import annotations

import pytest

SCRIPT = """
    from trl import SFTConfig, SFTTrainer
    args = SFTConfig(output_dir="out", lr_scheduler_type="{name}", lr_scheduler_kwargs={given})
    SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, train_dataset=rows).train()
"""


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("cosine", '{"num_cycles": 0.5}', []),
        ("cosine", '{"min_lr": 1e-6}', ["min_lr"]),
        ("cosine", '{"eta_min": 1e-6, "T_max": 10}', ["eta_min", "T_max"]),
        ("cosine_with_min_lr", '{"min_lr_rate": 0.1}', []),
        ("linear", '{"lr_end": 1e-6}', ["lr_end"]),
        ("polynomial", '{"lr_end": 1e-6, "power": 2}', []),
        ("reduce_lr_on_plateau", '{"anything": 1}', []),  # torch's own, which takes a lot
        ("cosine", "given", []),
        ("cosine", '{**given, "num_cycles": 0.5}', []),
    ],
)
def test_a_keyword_that_the_schedule_does_not_take(run, name, given, told):
    _, layer = run(SCRIPT.replace("{name}", name).replace("{given}", given))
    assert [(one.value.key, one.effect) for one in layer.observations] == [
        (f"SFTConfig.lr_scheduler_kwargs.{key}", "crash") for key in told
    ]


def test_the_schedule_with_a_floor_is_named_to_those_who_want_one(run):
    _, layer = run(SCRIPT.replace("{name}", "cosine").replace("{given}", '{"min_lr": 1e-6}'))
    assert layer.observations[0].data["advice"] == (
        "write lr_scheduler_type: cosine_with_min_lr and lr_scheduler_kwargs: {min_lr: ...}"
    )
