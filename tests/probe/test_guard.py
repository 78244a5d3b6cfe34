"""The guard in real runs of the Trainer: a tiny Llama with PEFT's LoRA on a text that can be learnt."""

from __future__ import annotations

import json
import logging
import math
import os
from pathlib import Path

import pytest

import loralint

torch = pytest.importorskip("torch")
pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")

from loralint.probe import StabilityGuard, UnstableTrainingError  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
PARAMETER = "base_model.model.model.layers.1.mlp.down_proj.lora_B.default.weight"


class Rows(torch.utils.data.Dataset):
    """The embedded model's held-out text; masked: without a label that counts."""

    def __init__(self, ids, *, masked: bool = False):
        self.ids, self.masked = ids[:, :16], masked

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, number):
        ids = self.ids[number]
        return {"input_ids": ids, "labels": torch.full_like(ids, -100) if self.masked else ids}


@pytest.fixture(scope="module")
def base():
    """A model that knows something, since what knows nothing cannot break: the probe's own, as Transformers has it."""
    from transformers import LlamaConfig

    from loralint.probe.base import embedded

    found = embedded()
    card = json.loads(Path(loralint.__file__).with_name("_data").joinpath("probe_card.json").read_text("utf-8"))
    sizes = card["sizes"]
    config = LlamaConfig(
        hidden_size=sizes["width"], intermediate_size=sizes["inner"], num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["heads"], num_key_value_heads=sizes["kv_heads"], head_dim=sizes["head"],
        vocab_size=sizes["vocab"], rms_norm_eps=sizes.get("eps", 1e-5), tie_word_embeddings=True,
    )  # fmt: skip
    return config, found.model.state_dict(), found.rows


@pytest.fixture
def make(base, tmp_path: Path):
    """make(guard, rate by step, ...) -> a Trainer, the same each time but for what is given."""
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaForCausalLM, Trainer, TrainingArguments

    config, weights, ids = base

    def one(
        guard=None, rates=lambda _: 2e-3, folder="out", callbacks=(), optim=None, compute=None, *, masked=False, **more
    ):
        torch.manual_seed(0)
        model = LlamaForCausalLM(config)
        model.load_state_dict(weights, strict=False)
        model = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "down_proj"]))
        arguments = TrainingArguments(
            **{
                "output_dir": str(tmp_path / folder), "max_steps": 30, "per_device_train_batch_size": 4,
                "logging_steps": 1, "save_steps": 10, "save_total_limit": 1, "report_to": "none", "use_cpu": True,
                "disable_tqdm": True, "seed": 3, "max_grad_norm": 0.0, **more,
            }
        )  # fmt: skip
        optimizer = optim(model) if optim else torch.optim.AdamW(model.parameters(), lr=1.0)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rates)
        given = [*callbacks, *([guard] if guard else [])]
        rows = Rows(ids, masked=masked)
        return Trainer(
            model,
            arguments,
            train_dataset=rows,
            eval_dataset=torch.utils.data.Subset(rows, range(8)),
            callbacks=given,
            compute_loss_func=compute,
            optimizers=(optimizer, schedule),
        )

    return one


def _blows_up(step: int) -> float:
    return 2e-3 if step < 15 else 1.0


def _losses(trainer) -> list[float]:
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def _checkpoints(trainer) -> list[str]:
    return sorted(path.name for path in Path(trainer.args.output_dir).glob("checkpoint-*"))


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "adapter_model.safetensors")


def test_a_diverging_run_is_stopped_and_the_last_good_checkpoint_stays(make, tmp_path):
    guard = StabilityGuard()
    trainer = make(guard, _blows_up)
    with pytest.raises(UnstableTrainingError, match=r"^loss stands at .*; step \d+ was the last good one$") as caught:
        trainer.train()
    assert 15 <= caught.value.step <= 19
    assert trainer.state.global_step <= 26
    assert _checkpoints(trainer) == ["checkpoint-10"]
    kept = _weights(tmp_path / "out" / "checkpoint-10")
    assert all(one.isfinite().all() for one in kept.values())
    unguarded = make(rates=_blows_up, folder="other")
    unguarded.train()
    assert _checkpoints(unguarded) == ["checkpoint-30"]  # which is what the guard prevents
    assert _losses(unguarded)[-1] > _losses(unguarded)[0] + 1


def test_the_checkpoint_that_stays_is_the_one_of_a_run_without_guard(make, tmp_path):
    trainer = make(StabilityGuard(on_unstable="stop"), _blows_up)
    trainer.train()
    plain = make(folder="plain", max_steps=10)
    plain.train()
    theirs, ours = _weights(tmp_path / "plain" / "checkpoint-10"), _weights(tmp_path / "out" / "checkpoint-10")
    assert all(torch.equal(one, ours[name]) for name, one in theirs.items())


@pytest.mark.parametrize(
    "more", [{}, {"gradient_accumulation_steps": 3, "max_steps": 8}, {"bf16": True}, {"max_grad_norm": 0.5}]
)
def test_a_good_run_is_the_same_to_the_last_bit(make, more):
    guard = StabilityGuard()
    more = {"max_steps": 16, "save_steps": 8, **more}
    guarded, plain = make(guard, folder="a", **more), make(folder="b", **more)
    guarded.train()
    plain.train()
    assert _losses(guarded) == _losses(plain)
    learnt = dict(plain.model.named_parameters())
    assert learnt[PARAMETER].any()
    assert all(torch.equal(one, learnt[name]) for name, one in guarded.model.named_parameters())
    assert _checkpoints(guarded) == _checkpoints(plain)
    assert (guard.stopped, guard.missing) == ("", ())
    assert not guarded.model._forward_hooks  # noqa: SLF001 - the guard's own is gone


@pytest.mark.parametrize("more", [{}, {"gradient_accumulation_steps": 4, "max_steps": 6}, {"bf16": True}])
def test_what_it_sees_of_a_step_is_what_the_trainer_logs(make, more):
    guard = StabilityGuard()
    trainer = make(guard, **{"max_steps": 12, **more})
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert [step.step for step in guard.steps] == [entry["step"] for entry in logged]
    for step, entry in zip(guard.steps, logged, strict=True):
        assert step.loss == pytest.approx(entry["loss"], rel=1e-5)
        assert step.norm == pytest.approx(entry["grad_norm"], rel=1e-4)
        assert step.rate == pytest.approx(entry["learning_rate"])
    assert len(guard.modules) == 16
    assert guard.steps[-1].largest in guard.modules
    total = math.sqrt(sum(norms.last**2 for norms in guard.modules.values()))
    assert total == pytest.approx(guard.steps[-1].norm, rel=1e-5)
    assert all(norms.largest >= max(norms.first, norms.last) for norms in guard.modules.values())


class _Break:
    """Sets entries of one gradient, or of one weight, to a value at one step."""

    def __new__(cls, step: int, value: float, *, weight: bool = False):
        from transformers import TrainerCallback

        class Break(TrainerCallback):
            def on_pre_optimizer_step(self, _, state, *__, model, **___):
                if state.global_step + 1 == step and not weight:
                    parameter = dict(model.named_parameters())[PARAMETER]
                    parameter.grad[0, 0] = value

            def on_optimizer_step(self, _, state, *__, model, **___):
                if state.global_step + 1 == step and weight:
                    dict(model.named_parameters())[PARAMETER].data[0, 0] = value

        return Break()


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_is_named_and_never_reaches_the_weights(make, tmp_path, value):
    guard = StabilityGuard()
    trainer = make(guard, callbacks=[_Break(17, value)])
    with pytest.raises(UnstableTrainingError) as caught:
        trainer.train()
    assert str(caught.value) == f"the gradient of {PARAMETER} is not finite at step 17; step 16 was the last good one"
    assert (caught.value.step, caught.value.tensor) == (16, f"the gradient of {PARAMETER}")
    assert all(one.isfinite().all() for one in trainer.model.parameters())
    assert _checkpoints(trainer) == ["checkpoint-10"]


def test_a_loss_that_the_trainer_logs_as_a_number_is_seen_to_be_nan(make):
    """Rows whose labels are all masked have no mean; the log of a run without guard never says so."""
    plain = make(masked=True, folder="plain", max_steps=5)
    plain.train()
    assert all(math.isfinite(loss) for loss in _losses(plain))
    trainer = make(StabilityGuard(), masked=True)
    with pytest.raises(UnstableTrainingError, match=r"^loss is not finite at step 1; step 0 was the last good one$"):
        trainer.train()


def test_a_model_that_returns_no_loss_is_judged_by_the_log(make):
    def compute(outputs, labels, num_items_in_batch=None):
        del num_items_in_batch
        assert outputs.get("loss") is None
        return torch.nn.functional.cross_entropy(outputs["logits"][:, :-1].flatten(0, 1), labels[:, 1:].flatten())

    trainer = make(StabilityGuard(), _blows_up, compute=compute)
    with pytest.raises(UnstableTrainingError, match=r"^loss stands at"):
        trainer.train()
    assert _checkpoints(trainer) == ["checkpoint-10"]
    trainer = make(StabilityGuard(), compute=compute, masked=True, logging_nan_inf_filter=False, folder="nan")
    with pytest.raises(UnstableTrainingError, match="not finite at step 1"):
        trainer.train()


def test_a_broken_weight_is_found_before_it_is_saved(make):
    trainer = make(StabilityGuard(), callbacks=[_Break(20, math.nan, weight=True)])
    with pytest.raises(UnstableTrainingError, match=f"^{PARAMETER} is not finite at step 20"):
        trainer.train()
    assert _checkpoints(trainer) == ["checkpoint-10"]


def test_no_checkpoint_is_written_while_the_loss_stands_high(make, caplog):
    """It blows up two steps before a checkpoint, too late to be sure, and the old one must not go."""
    rates = lambda step: 1.0 if step >= 16 else 2e-3  # noqa: E731
    guard = StabilityGuard(on_unstable="stop")
    trainer = make(guard, rates, max_steps=20)
    trainer.train()
    assert _checkpoints(trainer) == ["checkpoint-10"]


def test_the_best_model_is_still_loaded_at_the_end(make):
    guard = StabilityGuard()
    trainer = make(guard, _blows_up, eval_strategy="steps", eval_steps=10, load_best_model_at_end=True)
    with pytest.raises(UnstableTrainingError):
        trainer.train()
    best = _weights(Path(trainer.state.best_model_checkpoint))
    loaded = dict(trainer.model.named_parameters())
    for name, one in best.items():
        assert torch.equal(one, loaded[name.replace(".weight", ".default.weight")])


def test_parameters_that_the_optimizer_does_not_train_are_told(make, caplog):
    def without_one(model):
        chosen = [one for name, one in model.named_parameters() if one.requires_grad and name != PARAMETER]
        return torch.optim.AdamW(chosen, lr=1.0)

    guard = StabilityGuard()
    with caplog.at_level(logging.WARNING, "loralint.guard"):
        make(guard, optim=without_one, max_steps=2).train()
    assert guard.missing == (PARAMETER,)
    assert f"1 LoRA parameters never reach the optimizer, such as {PARAMETER}" in caplog.text


def test_a_run_that_trains_no_adapter_does_not_start(make):
    def elsewhere(model):
        return torch.optim.AdamW([one for name, one in model.named_parameters() if "lora_" not in name], lr=1.0)

    with pytest.raises(RuntimeError, match="trains none of the 32 LoRA parameters"):
        make(StabilityGuard(), optim=elsewhere).train()


def test_clipping_goes_by_the_history_of_norms(make):
    guard = StabilityGuard(clip=1.0)
    trainer = make(guard)
    trainer.train()
    assert all(step.clipped == 1.0 for step in list(guard.steps)[:20])
    later = list(guard.steps)[20:]
    assert any(step.clipped < 1.0 for step in later)
    for at, step in enumerate(guard.steps):
        if at >= 20:
            usual = sorted(one.norm for one in list(guard.steps)[:at])
            middle = (usual[(at - 1) // 2] + usual[at // 2]) / 2
            assert step.clipped == pytest.approx(min(1.0, middle / step.norm))
    plain = make(folder="plain")
    plain.train()
    assert _losses(plain)[:21] == _losses(trainer)[:21]


def test_a_spike_is_clipped_to_the_bound_before_the_optimizer_sees_it(make):
    from transformers import TrainerCallback

    class After(TrainerCallback):
        norms: list[float] = []  # noqa: RUF012

        def on_optimizer_step(self, *_, model, **__):
            found = [one.grad.norm() for one in model.parameters() if one.grad is not None]
            self.norms.append(torch.stack(found).norm().item())

    guard, after = StabilityGuard(clip=2.0), After()
    make(guard, callbacks=[after, _Break(25, 5000.0)], max_steps=25).train()
    assert guard.steps[24].norm > 4000
    assert after.norms[24] == pytest.approx(guard.steps[24].norm * guard.steps[24].clipped, rel=1e-4)
    assert after.norms[24] < 100


def test_its_log_is_one_that_watch_reads(make, tmp_path):
    from loralint.api import watch

    path = tmp_path / "stability_guard.jsonl"
    trainer = make(StabilityGuard(on_unstable="stop", log=str(path)), _blows_up)
    trainer.train()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [line["step"] for line in lines] == list(range(1, trainer.state.global_step + 1))
    run = watch(path).runs[0]
    assert ("LL862", "S") in [(finding.rule, finding.tier) for finding in run.findings]
    again = watch(tmp_path).runs[0]
    assert again.files == (str(path),)


def test_it_runs_again_from_a_checkpoint_with_nothing_left_of_the_first_run(make):
    guard = StabilityGuard(on_unstable="stop")
    trainer = make(guard, _blows_up)
    trainer.train()
    assert guard.stopped
    again = make(guard, max_steps=20)
    again.train(resume_from_checkpoint=str(Path(trainer.args.output_dir) / "checkpoint-10"))
    assert guard.stopped == ""
    assert [step.step for step in guard.steps] == list(range(11, 21))
    assert again.state.global_step == 20


@pytest.mark.parametrize(
    ("more", "said"),
    [({"on_unstable": "ignore"}, "on_unstable is"), ({"clip": 0.5}, "at least 1"), ({"clip": math.nan}, "1")],
)
def test_what_cannot_be_is_said(more, said):
    with pytest.raises(ValueError, match=said):
        StabilityGuard(**more)


@pytest.mark.parametrize(("name", "value"), [("deepspeed", "ds.json"), ("fsdp", "full_shard")])
def test_what_it_cannot_look_into_is_refused(make, name, value):
    trainer = make(StabilityGuard())
    setattr(trainer.args, name, value)
    with pytest.raises(RuntimeError, match="StabilityGuard does not work with"):
        trainer.callback_handler.on_train_begin(trainer.args, trainer.state, trainer.control)


_PROCESS = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
from loralint.probe import StabilityGuard
folder, average, poison = sys.argv[2:]
torch.manual_seed(0)
config = LlamaConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2, vocab_size=64)
model = get_peft_model(LlamaForCausalLM(config), LoraConfig(r=4, target_modules=["q_proj"]))
ids = torch.randint(0, 64, (64, 8), generator=torch.Generator().manual_seed(1))
counted = [torch.where(torch.arange(8) < 3 + at % 5, one, -100) for at, one in enumerate(ids)]
rows = [{"input_ids": one, "labels": label} for one, label in zip(ids, counted)]
guard = StabilityGuard(on_unstable="stop", log=folder + "/guard.jsonl")
arguments = TrainingArguments(
    folder, max_steps=6, per_device_train_batch_size=2, gradient_accumulation_steps=2, logging_steps=1,
    use_cpu=True, report_to="none", save_strategy="no", disable_tqdm=True, ddp_backend="gloo",
    average_tokens_across_devices=average == "1",
)
trainer = Trainer(model, arguments, train_dataset=rows, callbacks=[guard])
if trainer.args.process_index == 1 and poison == "1":
    whole = model.forward
    def poisoned(*args, **kwargs):
        out = whole(*args, **kwargs)
        if trainer.state.global_step == 3:
            out.loss = out.loss * float("nan")
        return out
    model.forward = poisoned
trainer.train()
logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
losses = [step.loss for step in guard.steps]
print("RESULT", losses, logged, trainer.state.global_step, guard.stopped, sep="|", flush=True)
"""


@pytest.mark.parametrize(("average", "poison"), [("0", "0"), ("1", "1")])
def test_several_processes_see_one_loss_and_stop_together(tmp_path, average, poison):
    import socket
    import subprocess
    import sys

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    root = str(Path(loralint.__file__).parents[1])
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _PROCESS, root, str(tmp_path), average, poison],
            env={**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in (0, 1)
    ]  # fmt: skip
    outputs = [process.communicate(timeout=900) for process in processes]
    told = [line.split("|") for out, _ in outputs for line in out.splitlines() if line.startswith("RESULT")]
    assert len(told) == 2, outputs
    (_, losses, logged, *end), (_, theirs, _, *their_end) = told
    assert (losses, end) == (theirs, their_end)
    seen = [json.loads(text.replace("nan", "NaN"))[:3] for text in (losses, logged)]
    assert seen[0] == pytest.approx(seen[1], rel=1e-4)
    stopped = ["4", "loss is not finite at step 4; step 3 was the last good one"]
    assert end == (stopped if poison == "1" else ["6", ""])
    assert len((tmp_path / "guard.jsonl").read_text("utf-8").splitlines()) == int(end[0])


def test_a_run_that_ended_in_an_error_leaves_no_hook_that_counts_twice(make):
    class Fails(transformers.TrainerCallback):
        def on_step_end(self, *_, **__):
            raise ConnectionError

    guard = StabilityGuard()
    trainer = make(guard, callbacks=[Fails()], max_steps=4)
    with pytest.raises(ConnectionError):
        trainer.train()
    trainer.callback_handler.callbacks = [one for one in trainer.callback_handler.callbacks if type(one) is not Fails]
    trainer.train()
    assert len(trainer.model._forward_hooks) == 0  # noqa: SLF001 - no public name for it
    assert [step.loss for step in guard.steps] == pytest.approx(_losses(trainer)[-4:], abs=1e-3)


def test_a_full_disk_costs_the_log_and_not_the_run(make, tmp_path, caplog):
    class Full(transformers.TrainerCallback):
        def on_step_end(self, _, state, *__, **___):
            if state.global_step == 2:
                log.unlink()
                log.mkdir()

    log = tmp_path / "guard.jsonl"
    with caplog.at_level(logging.WARNING, "loralint.guard"):
        trainer = make(StabilityGuard(log=str(log)), callbacks=[Full()], max_steps=5)
        trainer.train()
    assert trainer.state.global_step == 5
    (said,) = [one for one in caplog.messages if "gap" in one]
    assert said.startswith("the log has a gap from step 3 on: ")


def test_a_log_that_cannot_be_written_is_told_before_the_first_step(make, tmp_path):
    trainer = make(StabilityGuard(log=str(tmp_path / "none" / "guard.jsonl")))
    with pytest.raises(FileNotFoundError):
        trainer.train()
    assert trainer.state.global_step == 0
