#!/bin/bash
set -e
export WANDB_DISABLED=true
NUM_GPUS=4
MODEL=meta-llama/Llama-3.1-8B

# NUMBER
deepspeed --num_gpus $NUM_GPUS train.py \
    --model_name $MODEL \
    --lr 1e-4 \
    --epochs 2 \
    --batch_size 4 \
    --grad_accum 2 \
    --output_dir out
