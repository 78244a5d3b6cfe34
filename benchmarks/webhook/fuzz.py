"""Mutated reviews against the handler: every answer is a review with the right uid, or 400 or 413, and tells no secret.

    python benchmarks/webhook/fuzz.py [--reviews 100000] [--first 0] [--samples FOLDER] [--keep FOLDER]

A review follows from its number alone, so `--first` goes on where a run ended, and a fault is made again by its number.
Mounted maps hold a canary, in values and in keys, which no answer and no line of the log may hold. --samples: recorded
reviews to mutate besides our own; --keep: where reviews are written that show a fault.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import copy
import io
import json
import random
import string
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from loralint.webhook.admission import Admission, Policy  # noqa: E402
from loralint.webhook.app import admission_app  # noqa: E402
from loralint.webhook.judging import webhook_job  # noqa: E402
from loralint.webhook.log import Log  # noqa: E402
from loralint.webhook.lookup import Lookup  # noqa: E402
from loralint.webhook.metrics import Metrics  # noqa: E402
from loralint.webhook.references import Wanted  # noqa: E402
from tests.webhook.inline import Inline  # noqa: E402
from tests.webhook.reviews import BAD, GOOD, config_map, flags, job, lending, pod, referring, review  # noqa: E402

CANARY = "canary5f1e"
PATHS = ("/validate/enforce?timeout=3s", "/validate/warn?timeout=10s", "/validate", "/mutate?timeout=2s")
# A review that takes longer than this in the process itself is told.
SLOW = 3.0
TEXTS = (
    "lora_r: 0", "learning_rate: 5", "bf16: true",
    "fp16: true", "<<: *a", "a: &a {b: 1}", "- ", "\t", "{{ x }}", "? - a",
    "lora_target_modules: '(a+)+$'", "|", ">",
    "'", '"', "\0", "\ufeff", "---", "...", "# loralint: ignore LL304", "%TAG ! x",
    "deepspeed: /etc/passwd", "datasets: ../../../../etc/passwd", "base_model: ./tests", "\u2028", "\ud800", "é" * 50,
    "!!python/object:x", "a: " + "9" * 400,
)  # fmt: skip
WORDS = (
    "",
    "a",
    "x" * 300,
    "../../etc/passwd",
    "default",
    "kube-system",
    "\0",
    "\ud800",
    "${{x}}",
    "$(id)",
    "é",
    "1e999",
    "-0",
)


def seeds(folder: str) -> list[Any]:
    """Reviews to start from."""
    spec = {"template": {"spec": pod()}}
    rate = {"name": "LR", "valueFrom": {"configMapKeyRef": {"name": "train", "key": "lr"}}}
    line = "cat /cfg/train.yaml; axolotl train /cfg/train.yaml --lora_r 0"
    found: list[Any] = [
        review(config_map(BAD)),
        review(config_map(GOOD), old=config_map(BAD)),
        review(config_map(BAD), operation="DELETE"),
        review(flags("--lora_r", "0")),
        review(job()),
        review(job(suspend=True), old=job(suspend=True, selector={"a": "b"})),
        review(job(command=["bash", "-c", line])),
        review(job(command=["bash", "/cfg/run.sh"])),
        review(referring("TrainJob", runtimeRef={"name": "torch"}, trainer={"numNodes": 1})),
        review(referring("Workflow", workflowTemplateRef={"name": "lora"})),
        review(job(command=["trl", "sft", "--use_peft", "--learning_rate", "$(LR)"], env=[rate])),
        review(
            job(
                command=["bash", "-c", "trl sft --config /cfg/train.yaml $EXTRA"],
                envFrom=[{"configMapRef": {"name": "train"}}],
            )
        ),
    ]
    for version, kind, inner in (
        ("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": {"Master": {"replicas": 1, **spec}}}),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [{"name": "w", "template": {"spec": spec}}]}),
        ("batch.volcano.sh/v1alpha1", "Job", {"tasks": [{"name": "w", "replicas": 1, **spec}]}),
        ("ray.io/v1", "RayJob", {"entrypoint": "trl sft --lora_r 0", "rayClusterSpec": {"headGroupSpec": spec}}),
        ("argoproj.io/v1alpha1", "Workflow", {"templates": [{"name": "t", "container": pod()["containers"][0]}]}),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob", {"trainer": {"command": ["trl", "sft", "--lora_r", "0"]}}),
    ):
        meta = {"name": "t", "namespace": "team"}
        found.append(review({"apiVersion": version, "kind": kind, "metadata": meta, "spec": inner}))
    return found + [json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json")) if folder]


def mutated(number: int, several: list[Any]) -> tuple[bytes, str | None]:
    """The bytes of a review, and the uid to expect; None where it is not told by the bytes."""
    chance = random.Random(number)
    made = copy.deepcopy(chance.choice(several))
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        _mutate(made, chance)
    sent = json.dumps(made).encode("utf-8", "surrogatepass")
    if chance.random() < 0.1:
        return _torn(sent, chance), None
    request = made.get("request") if isinstance(made, dict) else None
    return sent, request.get("uid") if isinstance(request, dict) else None


def _torn(sent: bytes, chance: random.Random) -> bytes:
    at, length = chance.randrange(len(sent)), chance.randrange(1, 20)
    return sent[:at] + chance.randbytes(chance.randrange(8)) + sent[at + length :]


def _places(node: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items if depth < 60 else ():
        yield node, key
        yield from _places(value, depth + 1)


def _mutate(made: Any, chance: random.Random) -> None:
    places = list(_places(made))
    if not places:
        return
    node, key = chance.choice(places)
    value, roll = node[key], chance.random()
    if isinstance(value, str) and roll < 0.6:
        node[key] = _text(value, chance)
    elif roll < 0.7:
        del node[key]
    elif roll < 0.8 and isinstance(node, dict):
        node[chance.choice(WORDS) or key] = node.pop(key)
    else:
        node[key] = _junk(chance, value)


def _text(value: str, chance: random.Random) -> str:
    lines = value.split("\n")
    at = chance.randrange(len(lines))
    how = chance.randrange(5)
    if how == 0:
        lines.insert(at, chance.choice(TEXTS))
    elif how == 1:
        del lines[at]
    elif how == 2:
        lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)] + chance.choice(TEXTS)
    elif how == 3:
        place = chance.randrange(len(value) + 1)
        return value[:place] + chance.choice(string.printable) + value[place + 1 :]
    else:
        return chance.choice(WORDS)
    return "\n".join(lines)


def _junk(chance: random.Random, value: Any) -> Any:
    deep: Any = value
    for _ in range(chance.choice((1, 30, 100))):
        deep = [deep]
    choices = (
        None,
        True,
        0,
        -1,
        10**30,
        1e308,
        [],
        {},
        [value] * 3,
        {"a": value},
        deep,
        chance.choice(WORDS),
        "x" * 20_000,
    )
    return chance.choice(choices)


async def _held(namespace: str, wanted: Wanted) -> dict[str, Any] | int:
    del namespace
    if wanted.kind != "ConfigMap":
        return 404 if len(wanted.name) % 7 == 0 else lending(wanted.kind, CANARY)
    text = f"{BAD}{CANARY}: {CANARY}\nhub_model_id: {CANARY}\noptimizer: {CANARY}\nlearning_rate: {CANARY}\n"
    held = {
        "train.yaml": text,
        CANARY: CANARY,
        "run.sh": f"axolotl train --{CANARY} {CANARY}",
        "lr": CANARY,
        "EXTRA": CANARY,
    }
    return 404 if len(wanted.name) % 7 == 0 else {"data": held}


def fault_of(answer: httpx.Response, uid: str | None, logged: str) -> str:
    """What is wrong with an answer, "" if nothing is."""
    if CANARY in answer.text or CANARY in logged:
        return "leak"
    if answer.status_code != 200:
        return "" if answer.status_code in (400, 413) else f"status {answer.status_code}"
    return _fault_of(answer.json(), uid)


def _fault_of(said: dict[str, Any], uid: str | None) -> str:
    response = said["response"]
    warnings, message = response.get("warnings", ()), response.get("status", {}).get("message", "")
    faults = {
        "no review": said["kind"] != "AdmissionReview" or not isinstance(response["allowed"], bool),
        "wrong uid": uid is not None and response["uid"] != uid,
        "internal error": any("internal error" in one for one in warnings),
        "too long": sum(map(len, warnings)) > 4096 or len(message) > 8192,
    }
    return next((name for name, found in faults.items() if found), "")


async def main(given: argparse.Namespace) -> int:
    admission = Admission(
        Policy(mutate=True, pods=True),
        Inline(webhook_job(), pods=True),
        Lookup(_held),
        metrics=Metrics(),
        log=Log("debug"),
    )
    transport = httpx.ASGITransport(app=admission_app(admission, lambda: "", lambda: False))
    several, faults, statuses, slowest = seeds(given.samples), Counter[str](), Counter[int](), (0.0, 0)
    began = time.monotonic()
    async with httpx.AsyncClient(transport=transport, base_url="https://fuzz") as client:
        for number in range(given.first, given.first + given.reviews):
            sent, uid = mutated(number, several)
            logged, start = io.StringIO(), time.monotonic()
            try:
                with contextlib.redirect_stdout(logged):
                    answer = await client.post(PATHS[number % len(PATHS)], content=sent)
                fault = fault_of(answer, uid, logged.getvalue())
                statuses[answer.status_code] += 1
            except Exception as error:  # noqa: BLE001 - whatever comes out of the handler is what is looked for
                fault = f"crash: {type(error).__name__}"
            slowest = max(slowest, (time.monotonic() - start, number))
            if not fault and time.monotonic() - start > SLOW:
                fault = "slow"
            if fault:
                faults[fault] += 1
                print(f"review {number}: {fault} {logged.getvalue() if fault == 'internal error' else ''}", flush=True)
                if given.keep:
                    (Path(given.keep) / f"{number}.json").write_bytes(sent)
            if (number + 1) % 5000 == 0:
                print(f"{number + 1}: {time.monotonic() - began:.0f} s, faults {dict(faults)}", flush=True)
    print(
        f"{given.reviews} reviews in {time.monotonic() - began:.0f} s; statuses {dict(statuses)}; faults {dict(faults)}"
    )
    print(f"slowest: {slowest[0]:.2f} s, review {slowest[1]}")
    return 1 if faults else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviews", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--samples", default="")
    parser.add_argument("--keep", default="")
    sys.exit(asyncio.run(main(parser.parse_args())))
