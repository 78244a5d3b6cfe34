"""A callback for the Trainer of Transformers that stops a LoRA run before a broken adapter overwrites a good one."""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Mapping
from math import inf, isfinite
from statistics import median
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from loralint.probe.gradients import Norms, Trained, total
from loralint.watch.level import Level

_log = logging.getLogger("loralint.guard")
_SCALER = 20  # steps in a row that fp16's loss scaling may skip while it looks for its scale
_HISTORY, _KNOWN = 100, 20  # norms that clipping goes by, and how many it takes to begin


class UnstableTrainingError(RuntimeError):
    """A run was stopped. step: the last one with a usual loss. tensor: what was not finite, or "loss"."""

    def __init__(self, message: str, step: int, tensor: str) -> None:
        super().__init__(message)
        self.step = step
        self.tensor = tensor


class Step(NamedTuple):
    """One step of the optimizer. loss: mean over the step's rows in nats, None where the model returns none.

    norm: of all gradients together, after the Trainer's own clipping. largest: the module with the largest of them.
    clipped: the guard's factor on them, 1 for none.
    """

    step: int
    loss: float | None
    norm: float
    rate: float
    largest: str
    clipped: float = 1.0


class StabilityGuard(TrainerCallback):
    """Stops a run whose loss or gradients are not finite, or whose loss leaves its level for good.

    `Trainer(callbacks=[StabilityGuard()])`. It looks at the loss that the model returns, before the Trainer's log hides
    NaN, and at the gradients of every step; a step that is not finite does not reach the weights. While the loss stands
    high no checkpoint is written; when it stays there (`loralint.watch.level`, as in `loralint watch`) the run ends. It
    changes nothing else: without `clip` a run has the same losses to the last bit.

    on_unstable: "raise" UnstableTrainingError once training is wound up, so that no `save_model` behind it overwrites
    what is good, or "stop" with the reason in `stopped`. clip: gradients pass up to so many times the median norm of
    the last 100 steps, after the Trainer's max_grad_norm; None for all. log: a JSON Lines file for `loralint watch`,
    one line a step.

    Attributes: stopped, the reason, "" while all is well; steps, the last 1,000 of `Step`; modules, `Norms` by module;
    missing, LoRA parameters that the optimizer does not train.

    For one process, or several with a device each (DDP), in fp32, bf16 or fp16, with accumulation. DeepSpeed, FSDP and
    XLA keep gradients elsewhere, and `DataParallel` splits the loss: RuntimeError at the start.
    """

    def __init__(self, *, on_unstable: str = "raise", clip: float | None = None, log: str | None = None) -> None:
        if on_unstable not in ("raise", "stop"):
            raise ValueError(f'on_unstable is "raise" or "stop", not {on_unstable!r}')
        if clip is not None and not clip >= 1:
            raise ValueError(f"clip is a factor on the median norm, at least 1, not {clip!r}")
        self.on_unstable, self.clip, self.log = on_unstable, clip, log
        self.missing: tuple[str, ...] = ()
        self._hook: Any = None
        self._begin(None, 0)

    def _begin(self, trained: Trained | None, step: int) -> None:
        self.stopped, self.tensor, self.good_step = "", "", step
        self.steps: deque[Step] = deque(maxlen=1000)
        self.modules: dict[str, Norms] = {}
        self._trained = trained
        self._level = Level()
        self._norms: deque[float] = deque(maxlen=_HISTORY)
        self._losses: list[Tensor] = []
        self._shares = False
        self._skipped = 0
        self._unwritten = False

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """See which LoRA parameters the optimizer trains. Raises RuntimeError where it trains none, or cannot see."""
        del control
        _refuse(args)
        trained = Trained(kwargs["model"], kwargs["optimizer"].param_groups)
        self.missing = tuple(trained.missing)
        if trained.adapter and len(self.missing) == trained.adapter:
            raise RuntimeError(
                f"the optimizer trains none of the {trained.adapter} LoRA parameters: load the adapter with "
                "is_trainable=True, and put it on before the Trainer makes its optimizer"
            )
        if self.missing:
            _log.warning("%d LoRA parameters never reach the optimizer, such as %s", len(self.missing), self.missing[0])
        self._unhook()  # of a run that ended in an error, after which nobody is called
        self._begin(trained, state.global_step)
        if self.log and state.is_world_process_zero:
            _write(self.log, "")  # a place that cannot be written is told now
        self._hook = kwargs["model"].register_forward_hook(self._heard, with_kwargs=True)

    def _heard(self, model: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], output: Any) -> None:
        """Keep the loss of a micro-batch, [], as the model returns it."""
        del args
        loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
        if model.training and isinstance(loss, Tensor):
            self._losses.append(loss.detach().float().mean())
            self._shares = kwargs.get("num_items_in_batch") is not None  # each is its share of the step's mean

    def on_pre_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Gradients are complete, unscaled and clipped by the Trainer; the weights are as they were."""
        assert self._trained is not None
        step, loss, norms = state.global_step + 1, self._loss(args), self._trained.norms()
        broken = self._broken(loss, norms, patience=_SCALER if args.fp16 else 1)
        if broken:
            self._stop(f"{broken} is not finite at step {step}", broken, control)
            self._trained.drop()
        largest = max(norms, key=lambda name: norms[name] if isfinite(norms[name]) else inf, default="")
        rate, norm = kwargs["optimizer"].param_groups[0]["lr"], total(norms)
        self.steps.append(Step(step, loss, norm, rate, largest, self._clipped(norm)))
        for name, value in norms.items():
            seen = self.modules.get(name)
            self.modules[name] = seen.then(value, step) if seen else Norms(value, value, step, value)
        if self.log and state.is_world_process_zero:
            self._record(self.log, self.steps[-1])

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        """Judge the loss of the step, and hold back a checkpoint that may be broken."""
        del args, kwargs
        if self.steps and self.steps[-1].loss is not None:
            self._judge(self.steps[-1].loss, state, control)
        self._hold(state, control)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Judge the mean that is logged, where the model itself returns no loss."""
        del args, kwargs
        loss = (logs or {}).get("loss")
        if self.steps and self.steps[-1].loss is None and isinstance(loss, float):
            self._judge(loss, state, control)
            self._hold(state, control)

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Hold back the checkpoint of an epoch likewise."""
        del args, kwargs
        self._hold(state, control)

    def on_train_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Take the hook off, and raise what was found."""
        del args, state, control, kwargs
        self._unhook()
        if self.stopped and self.on_unstable == "raise":
            raise UnstableTrainingError(self.stopped, self.good_step, self.tensor)

    def _unhook(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None

    def _record(self, path: str, step: Step) -> None:
        """One line of the log. A disk that is full by now costs the log and not the run."""
        line = {"step": step.step, "loss": step.loss, "grad_norm": step.norm, "learning_rate": step.rate}
        try:
            _write(path, json.dumps({**line, "largest": step.largest, "clipped": step.clipped}) + "\n")
        except OSError as error:
            if not self._unwritten:
                _log.warning("the log has a gap from step %d on: %s", step.step, error)
            self._unwritten = True

    def _loss(self, args: TrainingArguments) -> float | None:
        """Mean over the step's rows, the same in every process, so that all of them decide alike."""
        losses, self._losses = self._losses, []
        if not losses:
            return None
        together = torch.stack(losses).sum() / (1 if self._shares else len(losses))
        if args.world_size > 1:
            torch.distributed.all_reduce(together)  # a share is one of all tokens, or of this process's own
            together /= 1 if self._shares and args.average_tokens_across_devices else args.world_size
        return together.item()

    def _broken(self, loss: float | None, norms: Mapping[str, float], patience: int) -> str:
        """What is not finite, for long enough: "loss", or a gradient by its parameter's name; "" for nothing."""
        assert self._trained is not None
        if loss is not None and not isfinite(loss):
            return "loss"
        bad = next((name for name, value in norms.items() if not isfinite(value)), "")
        self._skipped = self._skipped + 1 if bad else 0
        return f"the gradient of {self._trained.broken_gradient(bad)}" if self._skipped >= patience else ""

    def _clipped(self, norm: float) -> float:
        """Scale gradients down to `clip` times the usual norm; the factor."""
        if self.clip is None or self._trained is None or not isfinite(norm):
            return 1.0
        most = self.clip * median(self._norms) if len(self._norms) >= _KNOWN else inf
        self._norms.append(norm)
        if norm <= most:
            return 1.0
        self._trained.scale(most / norm)
        return most / norm

    def _judge(self, loss: float, state: TrainerState, control: TrainerControl) -> None:
        if self.stopped:
            return
        if not isfinite(loss):
            self._stop(f"loss is not finite at step {state.global_step}", "loss", control)
            return
        self._level.add(loss)
        if self._level.diverged:
            self._stop(f"loss {self._level.says()} at step {state.global_step}", "loss", control)
        elif not self._level.high:
            self.good_step = state.global_step

    def _stop(self, reason: str, tensor: str, control: TrainerControl) -> None:
        control.should_training_stop = True
        if not self.stopped:
            self.stopped, self.tensor = f"{reason}; step {self.good_step} was the last good one", tensor
            _log.error("stopping: %s", self.stopped)

    def _hold(self, state: TrainerState, control: TrainerControl) -> None:
        """Write no checkpoint that is broken, or that may be."""
        if not control.should_save or self._trained is None:
            return
        bad = "" if self.stopped else self._trained.broken_weight()
        if bad:
            self._stop(f"{bad} is not finite at step {state.global_step}", bad, control)
        if self.stopped or self._level.high:
            control.should_save = False
            why = self.stopped or f"loss {self._level.says()}"
            _log.warning("no checkpoint at step %d: %s", state.global_step, why)


def _refuse(args: TrainingArguments) -> None:
    """Raise RuntimeError for what it cannot look into."""
    for name, title in (("deepspeed", "DeepSpeed"), ("fsdp", "FSDP"), ("tpu_num_cores", "XLA")):
        if getattr(args, name, None):
            raise RuntimeError(f"StabilityGuard does not work with {title}, which keeps gradients where it cannot look")
    if args.n_gpu > 1:
        raise RuntimeError(
            "StabilityGuard does not work with DataParallel, which splits the loss: start it by torchrun"
        )


def _write(path: str, text: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)
