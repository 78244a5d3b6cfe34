"""Every arm of a stack against real PEFT: the same losses and gradient norms to five digits, all in one stack."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")
pytest.importorskip("transformers")

from loralint.probe.arm import Arm  # noqa: E402
from loralint.probe.llama import Llama, Sizes  # noqa: E402
from loralint.probe.loss import token_loss  # noqa: E402
from loralint.probe.optimizers import Optimizer  # noqa: E402
from loralint.probe.stack import Stack  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

SIZES = Sizes(vocab=128, width=64, layers=2, heads=4, kv_heads=2, head=16, inner=96)
ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
LINEAR = (*ATTENTION, "gate_proj", "up_proj", "down_proj")
PLAIN = Arm(8, 16, LINEAR, lr=1e-2)
ARMS = {
    "plain": PLAIN,
    "clipped and decayed": PLAIN._replace(targets=ATTENTION, clip=0.1, weight_decay=0.1),
    "rslora": PLAIN._replace(rslora=True, rank=4),
    "lora+": PLAIN._replace(lr_ratio=16.0, lr=2e-3, clip=1.0),
    "dora": PLAIN._replace(dora=True),
    "dora of down with lora+": PLAIN._replace(dora=True, targets=("down_proj",), rank=16, lr_ratio=4.0),
    "sgd": PLAIN._replace(optimizer="sgd", lr=0.1, targets=("down_proj",), weight_decay=0.1),
    "sgd with momentum, clipped": PLAIN._replace(optimizer="sgd", lr=0.5, clip=1.0, momentum=0.9),
    "lion": PLAIN._replace(optimizer="lion", lr=1e-3, beta2=0.99, weight_decay=0.1),
    "adafactor": PLAIN._replace(optimizer="adafactor", lr=3e-3, rank=4, weight_decay=0.1),
    "pissa": PLAIN._replace(init="svd", rank=4, alpha=12, lr=1e-3),
    "pissa of down by sgd": PLAIN._replace(init="svd", targets=("down_proj",), optimizer="sgd", lr=0.1, clip=1.0),
    "adafactor of dora": PLAIN._replace(optimizer="adafactor", lr=3e-3, dora=True, targets=ATTENTION),
}


def _models():
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    real = LlamaForCausalLM(
        LlamaConfig(
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=16,
            vocab_size=128,
            rms_norm_eps=1e-5,
            tie_word_embeddings=True,
            initializer_range=0.1,
        )
    )
    ours = Llama(SIZES)
    ours.load_state_dict({name: one for name, one in real.state_dict().items() if name != "lm_head.weight"})
    return real, ours


@pytest.fixture(scope="module")
def batches():
    return torch.randint(0, 128, (4, 2, 32), generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def ours(batches):
    """Loss and norm of every arm at four steps of one stack that holds them all, and its first weights."""
    stack = Stack(_models()[1], ARMS.values())
    first, optimizer, seen = stack.weights.detach().clone(), Optimizer(stack), []
    for batch in batches:
        losses = token_loss(stack(batch), batch, len(ARMS))
        losses.sum().backward()
        norms = optimizer.step(torch.tensor([arm.lr for arm in ARMS.values()]))
        seen.append((losses.tolist(), norms.tolist()))
    return stack, first, seen


class _Lion(torch.optim.Optimizer):
    """As published (arXiv:2302.06675, algorithm 2)."""

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for one in group["params"]:
                kept = self.state[one].setdefault("kept", torch.zeros_like(one))
                update = torch.sign(0.9 * kept + 0.1 * one.grad) + group["weight_decay"] * one
                one.sub_(group["lr"] * update)
                kept.mul_(0.99).add_(one.grad, alpha=0.01)


def _optimizer(arm: Arm, model):
    from transformers.optimization import Adafactor

    named = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
    fast = [one for name, one in named if "lora_B" in name or one.ndim == 1]  # as PEFT's create_loraplus_optimizer
    slow = [one for name, one in named if not ("lora_B" in name or one.ndim == 1)]
    groups = [{"params": slow, "lr": arm.lr}, {"params": fast, "lr": arm.lr * arm.lr_ratio}]
    decay = arm.weight_decay
    if arm.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=arm.lr, weight_decay=decay)
    if arm.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=arm.lr, momentum=arm.momentum, weight_decay=decay)
    if arm.optimizer == "lion":
        return _Lion(groups, {"lr": arm.lr, "weight_decay": decay})
    return Adafactor(groups, lr=arm.lr, scale_parameter=False, relative_step=False, weight_decay=decay)


@pytest.mark.parametrize("name", ARMS)
def test_an_arm_is_the_run_that_peft_would_make(name, ours, batches):
    from peft import LoraConfig, get_peft_model

    stack, first, seen = ours
    k, arm = list(ARMS).index(name), ARMS[name]
    model = get_peft_model(
        _models()[0],
        LoraConfig(
            r=arm.rank,
            lora_alpha=arm.alpha,
            target_modules=list(arm.targets),
            use_rslora=arm.rslora,
            use_dora=arm.dora,
            init_lora_weights="pissa" if arm.init == "svd" else True,
        ),
    )
    for slot in stack.slots:
        if slot.part == "A" and arm.hits(slot.module) and arm.init != "svd":
            weight = model.base_model.model.get_submodule(slot.module).lora_A.default.weight
            weight.data.copy_(slot.of(first)[k][: arm.rank])
    optimizer = _optimizer(arm, model)
    for batch, (losses, norms) in zip(batches, seen, strict=True):
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), arm.clip)
        optimizer.step()
        optimizer.zero_grad()
        assert losses[k] == pytest.approx(loss.item(), rel=1e-5)
        assert norms[k] == pytest.approx(norm.item(), rel=1e-5)


def test_our_llama_is_that_of_transformers(batches):
    real, ours = _models()
    with torch.no_grad():
        assert torch.allclose(real(batches[0]).logits, ours(batches[0]), atol=1e-5)


def test_what_is_not_finite_stays_in_its_arm(batches):
    from loralint.probe.train import train

    wild, calm = PLAIN._replace(optimizer="sgd", lr=1e30), PLAIN._replace(lr=1e-4)
    together, _ = train(Stack(_models()[1], (wild, calm)), batches, lambda _: (wild.lr, calm.lr))
    alone, _ = train(Stack(_models()[1], (calm,)), batches, lambda _: (calm.lr,))
    assert together[0].broken[0] in (1, 2)
    assert together[0].broken[1]
    assert together[1].broken == (-1, "")
    assert together[1].losses == pytest.approx(alone[0].losses, abs=1e-5)


def _doomed(arm: Arm) -> Arm:
    return arm._replace(optimizer="sgd", lr=1e30)


MIXED = (PLAIN, ARMS["sgd with momentum, clipped"], ARMS["adafactor"], ARMS["lion"], ARMS["dora"], ARMS["pissa"])


def test_an_arm_goes_on_as_before_when_others_are_taken_out(batches):
    """Whatever stands beside it, in the same optimizer or another, before it or behind it."""
    from loralint.probe.train import train

    arms = (_doomed(PLAIN), *MIXED[:3], _doomed(PLAIN), *MIXED[3:], _doomed(PLAIN))
    arms = tuple(arm._replace(dropout=0.1) for arm in arms)
    runs = []
    for enough in (3.0, math.inf):
        stack = Stack(_models()[1], arms)
        traces, _ = train(stack, [*batches, *batches], lambda _: [arm.lr for arm in arms], enough=enough)
        runs.append((stack.numbers, traces))
    (numbers, some), (every, whole) = runs
    assert (numbers, every) == ((1, 2, 3, 5, 6, 7), tuple(range(9)))
    assert [len(trace.losses) for trace in some] == [3 if arm.lr > 1 else 8 for arm in arms]
    for number in numbers:
        assert some[number].losses == pytest.approx(whole[number].losses, abs=1e-5), number
        assert some[number].norms == pytest.approx(whole[number].norms, rel=1e-4), number


def test_what_an_arm_learnt_before_it_was_taken_out_is_kept(batches):
    from loralint.probe.train import train

    arms = (PLAIN, _doomed(PLAIN._replace(rank=4)))
    stack, alone = Stack(_models()[1], arms), Stack(_models()[1], arms[1:])
    traces, _ = train(stack, batches, lambda _: [arm.lr for arm in arms], enough=3.0)
    train(alone, batches[: len(traces[1].losses)], lambda _: [arms[1].lr])
    for number, other in ((1, alone.learnt_by(0)), (0, None)):
        found = stack.learnt_by(number)
        assert list(found) == list(stack.modules)
        for name, (a, b) in found.items():
            out, width = stack.modules[name].base.weight.shape
            assert (a.shape, b.shape) == ((8, width), (out, 8))
            assert other is None or all(map(_same, (a[:4], b[:, :4]), other[name]))


def _same(one, other):
    return torch.allclose(one, other, rtol=1e-3, equal_nan=True)


def test_without_a_close_look_the_losses_are_the_same(batches):
    from loralint.probe.train import train

    arms = (PLAIN._replace(stored="bf16"), PLAIN)
    (close, _), (far, _) = (
        train(Stack(_models()[1], arms), batches, lambda _: [1e-5] * 2, closely=closely) for closely in (True, False)
    )
    for one, other in zip(close, far, strict=True):
        assert (one.losses, one.norms, one.rates) == (other.losses, other.norms, other.rates)
        assert [len(part) for part in (one.unmoved, one.ratios, other.unmoved, other.ratios)] == [4, 4, 0, 0]
    assert 0 < close[0].unmoved[-1] < 1


def test_with_the_last_arm_training_ends(batches):
    from loralint.probe.train import train

    stack = Stack(_models()[1], (_doomed(PLAIN), _doomed(PLAIN)))
    traces, stopped = train(stack, [*batches, *batches], lambda _: [1e30, 1e30], enough=3.0)
    assert [len(trace.losses) for trace in traces] == [3, 3]
    assert stopped == ""
    assert stack.numbers == (0, 1)


def test_close_gives_the_model_back(batches):
    _, ours = _models()
    before = ours(batches[0])
    stack = Stack(ours, (PLAIN,))
    stack.close()
    assert not any("base" in name for name, _ in ours.named_modules())
    assert torch.equal(before, ours(batches[0]))


def test_a_half_precision_adapter_dies_of_adams_epsilon_at_once(batches):
    """1e-8 is 0 in fp16, so A, without a gradient at the first step, becomes 0/0."""
    from loralint.probe.train import train

    arms = [PLAIN._replace(stored=stored, lr=1e-3) for stored in ("fp16", "fp32", "bf16")]
    traces, _ = train(Stack(_models()[1], arms), batches, lambda _: [1e-3] * 3)
    assert [trace.broken[0] for trace in traces] == [1, -1, -1]


def test_bf16_leaves_small_updates_out(batches):
    from loralint.probe.train import train

    arms = [PLAIN._replace(stored=stored, targets=("q_proj",)) for stored in ("bf16", "fp32")]
    traces, _ = train(Stack(_models()[1], arms), batches, lambda _: [1e-5] * 2)
    assert traces[0].unmoved[-1] > 0.3  # entries of A, which starts at up to 1/8; B starts at 0 and moves
    assert traces[1].unmoved[-1] == 0


def test_control_arms_change_only_what_they_say(batches):
    from loralint.probe.statistics import measure_inputs, tell_medians

    stack = Stack(_models()[1], [PLAIN._replace(inputs=kind) for kind in ("plain", "scale", "l2", "module")])
    read = measure_inputs(stack, batches)
    assert read.losses == pytest.approx([token_loss(stack.frozen(batch), batch).item() for batch in batches])
    tell_medians(stack, read.medians)
    found = {one.kind: one for one in read.inputs}
    assert found["down_proj"].largest >= found["down_proj"].p99 >= found["down_proj"].median
    module = stack.modules["model.layers.0.mlp.down_proj"]
    given = module._given(torch.randn(4, 10, 96)[:1].expand(4, -1, -1))  # noqa: SLF001 - the one place that makes them
    norms = given.norm(dim=-1)
    assert torch.allclose(norms[1], torch.full((10,), module.median), rtol=1e-4)
    assert torch.allclose(norms[2], torch.ones(10), rtol=1e-4)
    assert torch.allclose(norms[3] / norms[0], torch.full((10,), module.middle / module.median), rtol=1e-4)


def test_the_fast_svd_of_large_matrices_finds_the_same_product():
    from loralint.probe.stack import _largest

    torch.manual_seed(0)
    weight = torch.randn(300, 20) @ torch.diag(0.7 ** torch.arange(20)) @ torch.randn(20, 280)
    arm = PLAIN._replace(init="svd", rank=6)
    a, b = _largest(weight, arm)
    left, values, right = torch.linalg.svd(weight)
    assert torch.allclose(arm.scale * b @ a, left[:, :6] * values[:6] @ right[:6], atol=1e-3)
    assert torch.equal(_largest(weight, arm)[0], a)


def test_norms_hold_over_many_entries():
    """One fp32 sum over so many of them is off by a ten thousandth."""
    from loralint.probe.optimizers import _norms

    rows = torch.randn(2, 5_000_003, generator=torch.Generator().manual_seed(0))
    rows[1, 5] = float("nan")
    found = _norms(rows)
    assert found[0].item() == pytest.approx(rows[0].double().norm().item(), rel=2e-6)
    assert found[1].isnan()


@pytest.mark.parametrize("bad", [(math.inf, -math.inf), (math.nan, 1.0), (3e38, 3e38)])
def test_a_gradient_is_judged_by_its_entries_where_their_sum_is_not_finite(batches, bad):
    from loralint.probe.train import _broken

    stack = Stack(_models()[1], (PLAIN, PLAIN))
    stack.weights.grad = torch.zeros_like(stack.weights)
    (slot,) = [one for one in stack.slots if (one.module, one.part) == ("model.layers.1.mlp.down_proj", "B")]
    stack.weights.grad[1, slot.start : slot.start + 2] = torch.tensor(bad)
    told = "" if math.isfinite(bad[0]) else "model.layers.1.mlp.down_proj.lora_B"
    assert _broken(stack, torch.zeros(2)) == ["", told]


def test_a_product_that_overflows_has_no_spectrum(batches):
    from loralint.probe.statistics import spectra

    stack = Stack(_models()[1], (PLAIN,))
    with torch.no_grad():
        stack.weights.fill_(1e30)
    assert spectra(stack, 0) == []
    with torch.no_grad():
        stack.weights.fill_(1e14)  # whose squares overflow
    assert {one.first_share for one in spectra(stack, 0)} == {1.0}
