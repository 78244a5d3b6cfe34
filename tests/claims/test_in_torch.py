"""Claims about what PyTorch, PEFT and Transformers do; skipped where they are not installed."""

from __future__ import annotations

import copy
from math import sqrt

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]  # their warnings are not ours


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    torch.set_num_threads(1)  # these matrices are too small to share
    return torch


@pytest.fixture
def peft(torch):
    return pytest.importorskip("peft")


@pytest.fixture
def model(torch):
    """Two attention-like projections of width 64 and a head, under names that PEFT can be told."""
    nn = torch.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.to_q, self.to_k, self.head = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 4)

        def forward(self, x):
            return self.head(torch.tanh(self.to_q(x)) + self.to_k(x))

    return Model()


def adapted(peft, model, **options):
    options = {"r": 16, "lora_alpha": 16, "target_modules": ["to_q", "to_k"]} | options
    return peft.get_peft_model(model, peft.LoraConfig(**options))


def weights(model, kind):
    return [weight for name, weight in model.named_parameters() if f"lora_{kind}." in name]


# --- torch


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0, 8.0])
def test_autograd_scales_by_itself(torch, scale):
    a, b, x = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((3, 5), (4, 3), (2, 5)))
    assert torch.autograd.gradcheck(lambda a, b, x: scale * (x @ a.T) @ b.T, (a, b, x))


def test_clip_grad_norm_of_zero_wipes_the_gradients(torch):
    weight = torch.nn.Parameter(torch.ones(3))
    weight.grad = torch.ones(3)
    torch.nn.utils.clip_grad_norm_([weight], 0.0)
    assert weight.grad.abs().max() == 0


def test_the_scaler_skips_an_overflowed_step_and_halves_the_scale(torch):
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
    scaler.scale((weight * 1e38).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.item() == 1
    assert scaler.get_scale() == 32768


def test_a_forward_hook_sees_no_gradient(torch):
    layer, seen = torch.nn.Linear(3, 3), []
    layer.register_forward_hook(lambda _module, _input, output: seen.append(output.grad))
    output = layer(torch.randn(2, 3))
    caught = []
    output.register_hook(lambda gradient: caught.append(gradient.norm().item()))
    output.sum().backward()
    assert seen == [None]
    assert caught == [pytest.approx(sqrt(6))]


def test_there_is_no_polyfit_and_svd_lowrank_gives_v(torch):
    assert not hasattr(torch, "polyfit")
    u, s, v = torch.svd_lowrank(torch.randn(64, 48), q=8)
    assert (u.shape, s.shape, v.shape) == ((64, 8), (8,), (48, 8))


def test_adamw_leaves_frozen_weights_alone_and_decays_the_others(torch):
    frozen, trained = torch.nn.Parameter(torch.ones(3), requires_grad=False), torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.AdamW([frozen, trained], lr=0.1, weight_decay=0.5)
    trained.grad = torch.zeros(3)
    optimizer.step()
    assert frozen.tolist() == [1, 1, 1]
    assert trained.tolist() == pytest.approx([0.95] * 3)


def test_adamws_own_rate_is_a_thousandth(torch):
    (group,) = torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))]).param_groups
    assert group["lr"] == 1e-3


@pytest.mark.parametrize(("rate", "share"), [(5e-6, 0.87), (1e-5, 0.75), (2e-5, 0.50), (5e-5, 0.0)])
def test_adamw_in_bf16_leaves_entries_of_a_where_they_are(torch, rate, share):
    weight = torch.nn.Parameter(torch.empty(16, 4096).uniform_(-1 / 64, 1 / 64).bfloat16())
    before = weight.detach().clone()
    weight.grad = torch.randn_like(weight)
    torch.optim.AdamW([weight], lr=rate, weight_decay=0.0).step()
    assert (weight == before).float().mean().item() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("decayed", [True, False])
def test_decay_acts_in_fp32_and_not_in_bf16(torch, decayed):
    dtype = torch.float32 if decayed else torch.bfloat16
    weight = torch.nn.Parameter(torch.full((8,), 0.01, dtype=dtype))
    before = weight.detach().clone()
    optimizer = torch.optim.AdamW([weight], lr=2e-4, weight_decay=0.01)
    for _ in range(200):
        weight.grad = torch.zeros_like(weight)
        optimizer.step()
    assert bool((weight != before).any()) is decayed


def test_accumulated_micro_batches_give_the_gradient_of_the_whole(torch, model):
    x, target = torch.randn(32, 64), torch.randn(32, 4)
    gradients = []
    for micro in (2, 16):
        one = copy.deepcopy(model)
        for k in range(0, 32, micro):
            (torch.nn.functional.mse_loss(one(x[k : k + micro]), target[k : k + micro]) * micro / 32).backward()
        gradients.append(torch.cat([weight.grad.flatten() for weight in one.parameters()]))
    assert (gradients[0] - gradients[1]).norm() / gradients[1].norm() < 1e-6


def test_the_trace_of_random_numbers_says_nothing_of_a_batch(torch):
    """A published snippet measures gradient noise on torch.randn; any batch size gives the same figure."""
    traces = [torch.randn(4000, dim).var(dim=0).sum().item() / dim for dim in (16, 64)]
    assert traces == pytest.approx([1, 1], rel=0.05)


# --- PEFT


def test_pefts_start_is_a_uniform_a_and_a_zero_b(torch, peft, model):
    adapter = adapted(peft, model)
    for a in weights(adapter, "A"):
        assert a.abs().max() <= 1 / 8  # 1/sqrt(64)
        assert a.std().item() == pytest.approx(1 / sqrt(3 * 64), rel=0.05)
        kurtosis = ((a - a.mean()) ** 4).mean() / a.var() ** 2
        assert kurtosis.item() == pytest.approx(1.8, abs=0.15)  # a normal distribution has 3
    assert all(not b.any() for b in weights(adapter, "B"))
    x = torch.randn(5, 64)
    with torch.no_grad(), adapter.disable_adapter():
        base = adapter(x)
    assert torch.equal(adapter(x), base)


def test_gaussian_is_asked_for_and_has_std_1_over_r(peft, model):
    for a in weights(adapted(peft, model, init_lora_weights="gaussian"), "A"):
        assert a.std().item() == pytest.approx(1 / 16, rel=0.1)


def test_init_false_leaves_b_random(peft, model):
    assert all(b.any() for b in weights(adapted(peft, model, init_lora_weights=False), "B"))


def test_orthogonal_is_asked_for_and_needs_an_even_rank(peft, model):
    adapted(peft, copy.deepcopy(model), init_lora_weights="orthogonal")
    with pytest.raises(ValueError, match="even"):
        adapted(peft, model, init_lora_weights="orthogonal", r=7)


@pytest.mark.parametrize(("alpha", "scaling"), [(0, 0.0), (-16, -1.0), (32, 2.0)])
def test_any_alpha_is_accepted(peft, model, alpha, scaling):
    adapter = adapted(peft, model, lora_alpha=alpha)
    assert adapter.base_model.model.to_q.scaling["default"] == scaling


@pytest.mark.parametrize(("dropout", "passed"), [(-0.1, True), (1.0, False)])
def test_a_dropout_outside_of_its_range_is_accepted(torch, peft, model, dropout, passed):
    layer, seen = adapted(peft, model, lora_dropout=dropout).base_model.model.to_q, []
    layer.lora_A["default"].register_forward_pre_hook(lambda _module, given: seen.append(given[0]))
    layer.train()(torch.ones(2, 64))
    assert bool(seen[0].all()) is passed
    assert bool(seen[0].any()) is passed


@pytest.mark.parametrize("rank", [0, -4])
def test_a_rank_below_one_is_refused(peft, model, rank):
    with pytest.raises(ValueError, match="positive integer"):
        adapted(peft, model, r=rank)


def test_alpha_can_be_set_for_each_layer(peft, model):
    layers = adapted(peft, model, alpha_pattern={"to_k": 4}).base_model.model
    assert layers.to_q.scaling["default"] == 1
    assert layers.to_k.scaling["default"] == 0.25


def test_a_target_that_matches_nothing_stops_alone_and_passes_beside_another(peft, model):
    with pytest.raises(ValueError, match="not found"):
        adapted(peft, copy.deepcopy(model), target_modules=["to_qkv"])
    assert len(weights(adapted(peft, model, target_modules=["to_q", "to_qkv"]), "A")) == 1


def test_freezing_first_lets_the_adapter_learn_and_freezing_last_does_not(torch, peft, model):
    x, late = torch.randn(5, 64), copy.deepcopy(model)
    model.requires_grad_(requires_grad=False)
    first = adapted(peft, model)
    first(x).sum().backward()
    assert all(b.grad.norm() > 0 for b in weights(first, "B"))
    last = adapted(peft, late)
    last.requires_grad_(requires_grad=False)
    with pytest.raises(RuntimeError, match="does not require grad"):
        last(x).sum().backward()


def test_only_the_adapter_trains_and_its_absence_from_the_optimizer_shows(torch, peft, model):
    adapter = adapted(peft, model)
    assert {name.split(".")[-3] for name, weight in adapter.named_parameters() if weight.requires_grad} == {
        "lora_A",
        "lora_B",
    }
    optimizer = torch.optim.AdamW([weight for weight in adapter.parameters() if weight.requires_grad], lr=1e-3)
    held = {id(weight) for group in optimizer.param_groups for weight in group["params"]}
    assert held == {id(weight) for kind in "AB" for weight in weights(adapter, kind)}


def test_dropout_acts_on_the_input_of_a(torch, peft, model):
    layer, seen = adapted(peft, model, lora_dropout=0.5).base_model.model.to_q, []
    layer.lora_A["default"].register_forward_pre_hook(lambda _module, given: seen.append(given[0]))
    layer.train()(torch.ones(200, 64))
    assert (seen[0] == 0).float().mean().item() == pytest.approx(0.5, abs=0.05)


def test_the_update_has_at_most_rank_r_with_dropout(torch, peft, model):
    adapter = adapted(peft, model, r=4, lora_dropout=0.3)
    optimizer = torch.optim.AdamW([weight for weight in adapter.parameters() if weight.requires_grad], lr=1e-2)
    for _ in range(20):
        adapter(torch.randn(8, 64)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    singular = torch.linalg.svdvals(adapter.base_model.model.to_q.get_delta_weight("default").detach().double())
    assert (singular > 1e-6 * singular[0]).sum() == 4


@pytest.mark.parametrize(("eps", "dies"), [(1e-8, True), (1e-4, False)])
def test_an_adapter_stored_in_fp16_dies_in_the_first_step(torch, peft, model, eps, dies):
    adapter = adapted(peft, model).half()
    optimizer = torch.optim.AdamW([w for w in adapter.parameters() if w.requires_grad], lr=1e-4, eps=eps)
    adapter(torch.randn(8, 64).half()).float().square().mean().backward()
    optimizer.step()
    assert any(not a.isfinite().all() for a in weights(adapter, "A")) is dies


def test_peft_casts_the_adapter_of_a_16_bit_base_to_fp32(torch, peft, model):
    for dtype in (torch.float16, torch.bfloat16):
        adapter = adapted(peft, copy.deepcopy(model).to(dtype))
        assert {a.dtype for a in weights(adapter, "A")} == {torch.float32}


def test_a_word_for_bias_that_peft_lacks_raises(peft, model):
    with pytest.raises(NotImplementedError):
        adapted(peft, model, bias="some")


def test_a_normalised_input_survives_training_and_not_merging(torch, peft, model):
    adapter = adapted(peft, model, init_lora_weights=False)
    hooks = [
        module.register_forward_pre_hook(lambda _module, given: (given[0] / given[0].norm(dim=-1, keepdim=True),))
        for name, module in adapter.named_modules()
        if name.endswith("lora_A.default")
    ]
    x = torch.randn(5, 64)
    trained = adapter(x).detach()
    for hook in hooks:
        hook.remove()
    merged = adapter.merge_and_unload()(x).detach()
    assert (merged - trained).norm() / trained.norm() > 0.1


# --- Transformers


@pytest.mark.parametrize("gone", [{"fp16_opt_level": "O2"}, {"warmup_ratio": 0.03}])
def test_training_arguments_without_a_key_that_went(torch, gone, tmp_path):
    transformers = pytest.importorskip("transformers", minversion="5.24")
    pytest.importorskip("accelerate")
    with pytest.raises(TypeError, match=next(iter(gone))):
        transformers.TrainingArguments(output_dir=str(tmp_path), **gone)


def test_transformers_clips_at_1_unless_told(torch, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    given = transformers.TrainingArguments(output_dir=str(tmp_path))
    assert given.max_grad_norm == 1.0
    assert given.learning_rate == 5e-5
