"""Weights that bitsandbytes quantised, read without it from the files that Transformers saves of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from loralint.probe.weights import safetensors  # noqa: E402

pytestmark = pytest.mark.torch

# What bitsandbytes 0.50.2 itself made of the numbers -64 to 63 over 16 as a [2, 64] matrix in blocks of 64; the
# tests have the sums of what it makes of that again, plain and weighted by 0 to 127.
NF4 = (
    "0000000000111111111111111222222222233333333444444555555566666677"
    "7778888899999aaaaaabbbbbbcccccccdddddddddeeeeeeeeeeeeeefffffffff"
)
NF4_BOOK = [
    -1.0, -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.09105, 0.0,
    0.0795803, 0.1609302, 0.2461123, 0.3379152, 0.4407098, 0.562617, 0.7229568, 1.0,
]  # fmt: skip
FP4 = (
    "bbbbbbbbbbbaaaaaaaaaaaaaaaadddddddddddccccccccfffffeeeeeeee99999"
    "0111116666666677777444444445555555555222222222222222233333333333"
)
FP4_BOOK = [
    0.0, 0.0052083, 0.6666667, 1.0, 0.3333333, 0.5, 0.1666667, 0.25,
    0.0, -0.0052083, -0.6666667, -1.0, -0.3333333, -0.5, -0.1666667, -0.25,
]  # fmt: skip


def _saved(folder: Path, tensors: dict, **config) -> str:
    from safetensors.torch import save_file

    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(folder)


def _four_bits(digits: str, book: list[float], state: dict[str, object], kind: str) -> dict:
    packed = torch.tensor(list(bytes.fromhex(digits)), dtype=torch.uint8).view(-1, 1)
    about = json.dumps({"quant_type": kind, "blocksize": 64, "dtype": "float32", "shape": [2, 64], **state})
    name = f"a.weight.quant_state.bitsandbytes__{kind}"
    said = torch.tensor(list(about.encode()), dtype=torch.uint8)
    return {"a.weight": packed, "a.weight.quant_map": torch.tensor(book), name: said}


def test_four_bits_whose_blocks_are_themselves_quantised(tmp_path):
    outer = torch.zeros(256)
    outer[0], outer[255] = -0.9929687, 1.0
    tensors = _four_bits(
        NF4, NF4_BOOK, {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": 3.96875}, "nf4"
    ) | {
        "a.weight.absmax": torch.tensor([255, 0], dtype=torch.uint8),
        "a.weight.nested_absmax": torch.tensor([0.03125]),
        "a.weight.nested_quant_map": outer,
    }
    weights = safetensors(_saved(tmp_path, tensors, quantization_config={"quant_method": "bitsandbytes"}))
    assert weights.shapes == {"a.weight": (2, 64)}
    found = weights.read("a.weight", None)
    assert found.shape == (2, 64)
    assert found.sum().item() == pytest.approx(-3.68227, abs=1e-4)
    assert (found.flatten() * torch.arange(128)).sum().item() == pytest.approx(10698.131, rel=1e-6)


def test_four_bits_with_plain_blocks(tmp_path):
    tensors = _four_bits(FP4, FP4_BOOK, {}, "fp4") | {"a.weight.absmax": torch.tensor([4.0, 3.9375])}
    found = safetensors(_saved(tmp_path, tensors)).read("a.weight", None)
    assert found.sum().item() == pytest.approx(-3.99642, abs=1e-4)
    assert (found.flatten() * torch.arange(128)).sum().item() == pytest.approx(10723.006, rel=1e-6)


def test_eight_bits_are_scaled_by_row(tmp_path):
    tensors = {"a.weight": torch.tensor([[127, -127], [64, 0]], dtype=torch.int8), "a.SCB": torch.tensor([2.0, 12.7])}
    weights = safetensors(_saved(tmp_path, tensors))
    assert weights.shapes == {"a.weight": (2, 2)}
    assert torch.allclose(weights.read("a.weight", None), torch.tensor([[2.0, -2.0], [6.4, 0.0]]))


def test_plain_weights_come_in_fp32_and_by_rows(tmp_path):
    matrix = torch.arange(12).view(4, 3).bfloat16()
    weights = safetensors(_saved(tmp_path, {"model.embed_tokens.weight": matrix}))
    assert torch.equal(weights.read("model.embed_tokens.weight", torch.tensor([1, 3])), matrix[[1, 3]].float())
    assert weights.of_body() == 0


@pytest.mark.parametrize("method", ["gptq", "awq", "fp8", "compressed-tensors"])
def test_other_quantisations_are_refused_by_name(tmp_path, method):
    folder = _saved(tmp_path, {"a.weight": torch.zeros(1)}, quantization_config={"quant_method": method})
    with pytest.raises(ValueError, match=f"quantised by {method} are not read; give the unquantised model"):
        safetensors(folder)


def test_integers_of_an_unknown_layout_are_refused(tmp_path):
    folder = _saved(tmp_path, {"a.weight": torch.zeros(2, 2, dtype=torch.int32)})
    with pytest.raises(ValueError, match="a way that is not read"):
        safetensors(folder).read("a.weight", None)


def test_an_index_that_leaves_its_folder_is_refused(tmp_path):
    folder = _saved(tmp_path, {"a.weight": torch.zeros(1)})
    index = {"weight_map": {"a.weight": "../elsewhere.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(ValueError, match="outside its folder"):
        safetensors(folder)
