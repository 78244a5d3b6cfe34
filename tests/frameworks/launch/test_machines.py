"""Several machines of a batch system, and who starts what on them."""

from __future__ import annotations

import pytest

from loralint.frameworks.launch.machines import alone

HEAD = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:8\n"
ACCELERATE = "accelerate launch --num_machines 2 --num_processes 16 --machine_rank $SLURM_NODEID train.py --lora_r 8"
C10D = "--rdzv_backend c10d --rdzv_endpoint $H:1 train.py --lora_r 8"


def _told(find, text):
    (launch,) = find(text)
    return [(one.kind, one.value.key) for one in alone(launch)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (HEAD + ACCELERATE, [("machines", "num_machines")]),
        (HEAD + f"srun {ACCELERATE}", [("machines", "machine_rank")]),
        (HEAD + f'srun bash -c "{ACCELERATE}"', [("machines", "machine_rank")]),
        (HEAD + f"srun bash -c '{ACCELERATE}'", []),
        (HEAD + 'srun bash -c "{}"'.format(ACCELERATE.replace("$", "\\$")), []),
        (HEAD + "# it isn't one\n" + f"srun bash -c '{ACCELERATE}'", []),
        (HEAD.replace("=2", "=1") + ACCELERATE, []),
        (ACCELERATE, []),
        (HEAD + "torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 train.py --lora_r 8", [("machines", "nnodes")]),
        (HEAD + f"torchrun --nnodes 2 {C10D}", [("machines", "nnodes")]),
        (HEAD + f"H=$(srun -n 1 hostname)\ntorchrun --nnodes 2 {C10D}", [("machines", "nnodes")]),
        (HEAD + f"H=$(srun -n 1 hostname)\nsrun torchrun --nnodes 2 --node_rank $SLURM_PROCID {C10D}", []),
        (HEAD + f"torchrun --nnodes 1:2 {C10D}", []),
        (HEAD + "torchrun --nnodes 1 --nproc_per_node 8 train.py --lora_r 8", []),
        (HEAD + "torchrun --nproc_per_node 8 train.py --lora_r 8", []),
    ],
)
def test_observations(find, text, wanted):
    assert _told(find, text) == wanted
