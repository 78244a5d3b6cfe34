"""Normalised inputs in real PEFT models."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("peft")
pytest.importorskip("transformers")

from loralint.probe import normalize_inputs  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
LINEAR = ["q_proj", "o_proj", "down_proj"]


@pytest.fixture
def make():
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    def one(**more):
        torch.manual_seed(0)
        config = LlamaConfig(
            hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, vocab_size=64,
        )  # fmt: skip
        given = {"r": 4, "lora_alpha": 8, "target_modules": LINEAR, "init_lora_weights": False, **more}
        return get_peft_model(LlamaForCausalLM(config), LoraConfig(**given)).eval()

    return one


@pytest.fixture
def batch():
    return {"input_ids": torch.randint(0, 64, (2, 12), generator=torch.Generator().manual_seed(1))}


def _seen(model, batch, part):
    """What lora_A of the first such module is given, [rows, tokens, features]."""
    found = []
    lora_a = next(one for name, one in model.named_modules() if name.endswith(f"{part}.lora_A.default"))
    hook = lora_a.register_forward_hook(lambda *given: found.append(given[1][0].detach()))
    with torch.no_grad():
        model(**batch)
    hook.remove()
    return found[0]


@pytest.mark.parametrize("part", LINEAR)
def test_a_sees_what_the_kind_says_and_the_base_path_what_it_always_saw(make, batch, part):
    model = make()
    plain = _seen(model, batch, part)
    norms = plain.norm(dim=-1, keepdim=True)
    for kind, wanted in (
        ("l2", plain / norms),
        ("rms", plain / plain.square().mean(-1, keepdim=True).sqrt()),
        ("scale", plain / norms * norms.median()),
    ):
        with normalize_inputs(model, kind, modules=part, batches=[batch]) as handle:
            assert torch.allclose(_seen(model, batch, part), wanted, atol=1e-5, rtol=1e-4), kind
            handle.check()
    assert torch.equal(_seen(model, batch, part), plain)


def test_module_brings_all_modules_to_one_median_and_keeps_the_spread_of_tokens(make, batch):
    model = make()
    plain = _seen(model, batch, "q_proj").norm(dim=-1)  # the first, whose input no adapter changes
    with normalize_inputs(model, "module", batches=[batch]) as handle:
        given = _seen(model, batch, "q_proj").norm(dim=-1)
    medians = torch.tensor(list(handle.medians.values()))
    assert torch.allclose(given / given.median(), plain / plain.median(), rtol=1e-4)
    assert given.median().item() == pytest.approx(medians.log().mean().exp().item(), rel=1e-4)


def test_without_batches_the_first_pass_sets_the_median_for_good(make, batch):
    model = make()
    other = {"input_ids": torch.full((1, 3), 7)}
    with normalize_inputs(model, "scale") as handle, torch.no_grad():
        model(**batch)
        first = dict(handle.medians)
        assert all(first.values())
        model(**other)
        assert handle.medians == first


def test_the_delta_trains_and_gradients_pass_through(make, batch):
    model = make().train()
    with normalize_inputs(model, "scale", batches=[batch]):
        model(**batch, labels=batch["input_ids"]).loss.backward()
    gradients = [one.grad for name, one in model.named_parameters() if "lora_" in name]
    assert all(one is not None and one.isfinite().all() and one.any() for one in gradients)


def test_it_refuses_to_be_saved_or_merged_until_it_is_taken_off(make, batch, tmp_path):
    model = make()
    state = {name: one.clone() for name, one in model.state_dict().items()}
    handle = normalize_inputs(model, "l2")
    layer = model.base_model.model.model.layers[0].self_attn.q_proj
    for refused in (
        lambda: model.save_pretrained(tmp_path / "adapter"),
        model.merge_and_unload,
        model.base_model.merge_adapter,
        model.base_model.merge_and_unload,
        layer.merge,
        model.state_dict,
    ):
        with pytest.raises(RuntimeError, match=r"take them off first: handle\.remove\(\)"):
            refused()
    assert not (tmp_path / "adapter").exists()
    handle.remove()
    handle.remove()
    assert all(torch.equal(one, state[name]) for name, one in model.state_dict().items())
    model.save_pretrained(tmp_path / "adapter")
    assert (tmp_path / "adapter" / "adapter_config.json").is_file()
    with torch.no_grad():
        before = model(**batch).logits
        assert torch.allclose(model.merge_and_unload()(**batch).logits, before, atol=1e-4)


def test_an_error_takes_the_hooks_off_too(make, batch):
    model = make()
    plain = _seen(model, batch, "q_proj")
    with pytest.raises(KeyError), normalize_inputs(model, "l2"):
        raise KeyError
    with pytest.raises(ValueError, match="input_ids"):
        normalize_inputs(model, "scale", batches=[{}])
    assert torch.equal(_seen(model, batch, "q_proj"), plain)


def test_a_hook_that_never_ran_is_told(make):
    with normalize_inputs(make(), "l2") as handle, pytest.raises(RuntimeError, match="of 6 modules was never"):
        handle.check()


def test_bf16_inputs_stay_bf16_with_norms_in_fp32(make, batch):
    model = make().to(torch.bfloat16)
    with normalize_inputs(model, "l2"):
        given = _seen(model, batch, "down_proj")
    assert given.dtype == torch.bfloat16
    assert torch.allclose(given.float().norm(dim=-1), torch.ones(2, 12), atol=5e-3)


def test_a_convolution_is_normalised_over_its_channels():
    from peft import LoraConfig, get_peft_model

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = torch.nn.Conv2d(3, 5, 3)

        def forward(self, x):
            return self.conv(x)

    model = get_peft_model(Net(), LoraConfig(r=2, target_modules=["conv"]))
    with normalize_inputs(model, "l2"):
        found = []
        model.base_model.model.conv.lora_A.default.register_forward_hook(lambda *given: found.append(given[1]))
        model(torch.randn(2, 3, 8, 8))
    assert torch.allclose(found[0][0].norm(dim=1), torch.ones(2, 8, 8), atol=1e-5)


@pytest.mark.parametrize(
    ("more", "arguments", "said"),
    [
        ({}, {"kind": "max"}, "is none of scale"),
        ({}, {"kind": "module"}, "give batches"),
        ({}, {"modules": ["zebra"]}, "is named zebra"),
        ({"use_dora": True}, {}, "is DoRA"),
    ],
)
def test_what_cannot_be_is_said(make, more, arguments, said):
    with pytest.raises(ValueError, match=said):
        normalize_inputs(make(**more), **arguments)


def test_a_merged_adapter_is_refused(make):
    model = make()
    model.merge_adapter()
    with pytest.raises(ValueError, match="is merged"):
        normalize_inputs(model)


def test_a_second_pair_of_hooks_is_refused(make):
    model = make()
    with normalize_inputs(model, "l2"), pytest.raises(ValueError, match="normalised already"):
        normalize_inputs(model, "rms", modules=["down_proj"])
    normalize_inputs(model, "rms").remove()


@pytest.mark.parametrize("kind", ["module", "scale"])
def test_no_batches_measure_nothing(make, batch, kind):
    model = make()
    plain = _seen(model, batch, "q_proj")
    with pytest.raises(ValueError, match="nothing to measure"):
        normalize_inputs(model, kind, batches=[])
    assert torch.equal(_seen(model, batch, "q_proj"), plain)


def test_what_another_library_put_on_the_model_is_there_again(make):
    model = make()
    model.save_pretrained = lambda *_: "theirs"  # as Unsloth does it
    with normalize_inputs(model, "l2"), pytest.raises(RuntimeError, match="take them off first"):
        model.save_pretrained("somewhere")
    assert model.save_pretrained("somewhere") == "theirs"


def test_measuring_leaves_every_part_in_its_mode(make, batch):
    model = make().train()
    model.base_model.model.model.norm.eval()
    before = [one.training for one in model.modules()]
    normalize_inputs(model, "scale", batches=[batch]).remove()
    assert [one.training for one in model.modules()] == before
