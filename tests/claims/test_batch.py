"""Claims about batches and accumulation, in exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction

SAMPLES = [Fraction(random.Random(0).randrange(-1000, 1000), 1 + k) for k in range(32)]


def accumulated(micro):
    """The mean over micro batches of the means within them."""
    parts = [SAMPLES[k : k + micro] for k in range(0, len(SAMPLES), micro)]
    return sum(sum(part) / len(part) for part in parts) / len(parts)


def test_two_times_sixteen_is_sixteen_times_two_exactly():
    assert accumulated(2) == accumulated(16) == accumulated(32)


def test_a_mean_of_means_is_wrong_where_token_counts_differ():
    """Two micro batches of 10 and 190 tokens, losses 3 and 1 a token."""
    naive = (Fraction(3) + Fraction(1)) / 2
    by_token = Fraction(10 * 3 + 190 * 1, 200)
    assert naive / by_token > Fraction(18, 10)


def test_the_effective_batch_counts_micro_accumulation_and_devices(lora):
    assert lora("batch.effective", batch__micro=4, batch__accumulation=8) == 32
    assert lora("batch.effective", batch__micro=4, batch__accumulation=8, run__gpu="A100x2") == 64
