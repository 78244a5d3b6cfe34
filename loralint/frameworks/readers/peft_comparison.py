"""training_params.json of PEFT's method comparison: what its runner trains with, beside an adapter_config.json.

The adapter stands in the other file, so this reader has no adapter fields. A file states what differs from the folder's
default_training_params.json, which is why an absent key has the default of that file.
Source: huggingface/peft method_comparison/MetaMathQA/{utils,run}.py at 5d602fdb.
"""

from __future__ import annotations

from loralint.frameworks.convert import dtype, long_dtype, lower, not_null
from loralint.frameworks.table import Entry, Reader

TABLE = (
    Entry("model.base", "model_id", default="meta-llama/Llama-3.2-3B"),
    Entry("model.dtype", "dtype", dtype, long_dtype, default="bf16"),
    Entry("model.attention", "attn_implementation", not_null),
    Entry("data.sequence_len", "max_seq_length", default=768),
    Entry("batch.micro", "batch_size", default=4),
    Entry("batch.eval_micro", "batch_size_eval", default=50),
    Entry("train.max_steps", "max_steps", default=5000),
    Entry("train.seed", "seed", default=0),
    Entry("eval.steps", "eval_steps", default=250),
    Entry("optim.name", "optimizer_type", lower, default="adamw"),
    Entry("optim.lr", "optimizer_kwargs.lr", default=1e-4),
    Entry("optim.weight_decay", "optimizer_kwargs.weight_decay", default=0.1),
    Entry("optim.max_grad_norm", "grad_norm_clip", default=1.0),
    Entry("schedule.name", "lr_scheduler", not_null, default="cosine"),
    Entry("kernel.compile", "compile", default=False),
    Entry("memory.gradient_checkpointing", "use_gc", default=False),
)

READER = Reader(
    name="peft",
    title="PEFT's method comparison",
    dialect="json",
    table=TABLE,
    keys="",
    coerces=False,
    packages=("peft",),
)
