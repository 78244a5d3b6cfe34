"""Logs as programs write them, whole and in the middle of being written."""

from __future__ import annotations

import json
import math
import os
import struct
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.watch.events import scalars
from loralint.watch.read import UnreadableError, find, read

ENTRIES = [
    {"epoch": 0.1, "grad_norm": 0.52, "learning_rate": 1e-4, "loss": 2.1, "step": 10},
    {"epoch": 0.1, "eval_loss": 2.0, "eval_runtime": 3.0, "step": 10},
    {"epoch": 0.2, "grad_norm": 0.41, "learning_rate": 2e-4, "loss": 1.9, "step": 20},
    {"epoch": 0.2, "step": 20, "total_flos": 1.0, "train_loss": 2.0, "train_runtime": 9.0},
]


def _state(entries=ENTRIES, steps: int = 100) -> str:
    state = {"global_step": 20, "log_history": entries, "max_steps": steps, "stateful_callbacks": {}}
    return json.dumps(state, indent=2)


def _curves(found) -> tuple[list[tuple[float, float]], ...]:
    return tuple(
        [(point.step, point.value) for point in points]
        for points in (found.loss, found.norm, found.rate, found.held_out)
    )


WANTED = ([(10, 2.1), (20, 1.9)], [(10, 0.52), (20, 0.41)], [(10, 1e-4), (20, 2e-4)], [(10, 2.0)])


def test_trainer_state(tmp_path):
    path = tmp_path / "trainer_state.json"
    path.write_text(_state(), encoding="utf-8")
    found = read(str(path))
    assert _curves(found) == WANTED
    assert (found.title, found.total, found.last, found.notes) == ("trainer_state", 100, 20, ())
    lines = path.read_text("utf-8").splitlines()
    assert [lines[point.line - 1].strip() for point in found.loss] == ["{", "{"]
    assert '"loss": 1.9' in "".join(lines[found.loss[1].line - 1 : found.loss[1].line + 6])


@pytest.mark.parametrize("indent", [None, 2])
def test_a_state_cut_anywhere_gives_what_is_whole_of_it(tmp_path, indent):
    path = tmp_path / "trainer_state.json"
    whole = json.dumps({"log_history": ENTRIES, "max_steps": 100}, indent=indent)
    seen = set()
    for end in range(1, len(whole)):
        path.write_text(whole[:end], encoding="utf-8")
        try:
            found = read(str(path))
        except UnreadableError:
            seen.add(0)
            continue
        seen.add(len(found.loss))
        assert _curves(found)[0] == WANTED[0][: len(found.loss)]
    assert seen == {0, 1, 2}


_OF_WANDB = {
    "loss": "train/loss", "grad_norm": "train/grad_norm", "learning_rate": "train/learning_rate",
    "eval_loss": "eval/loss", "step": "_step",
}  # fmt: skip


def _lines(entries) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def _nested(entry):
    train = {name: entry[name] for name in ("loss", "grad_norm", "learning_rate") if name in entry}
    return {"train": train, "eval": {"loss": entry.get("eval_loss")}, "step": entry["step"]}


TEXTS = {
    "JSON Lines": _lines(ENTRIES),
    "wandb-history.jsonl": _lines({_OF_WANDB.get(name, name): v for name, v in one.items()} for one in ENTRIES),
    "nested": _lines(map(_nested, ENTRIES[:3])),
    "W&B's CSV": "Step,fox - train/loss,fox - train/loss__MIN,fox - train/grad_norm,fox - train/learning_rate,"
    "fox - eval/loss\n10,2.1,1,0.52,1e-4,2.0\n20,1.9,1,0.41,2e-4,\n",
    "CSV": "step,loss,grad_norm,learning_rate,eval_loss\n10,2.1,0.52,0.0001,2.0\n20,1.9,0.41,0.0002,\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_tables_and_lines(tmp_path, text):
    path = tmp_path / "export"
    path.write_text(text, encoding="utf-8")
    found = read(str(path))
    assert _curves(found) == WANTED
    path.write_text(text + '{"step": 30, "lo', encoding="utf-8")  # a line that is being written
    found = read(str(path))
    assert _curves(found) == WANTED
    assert len(found.notes) == (0 if "loss" not in text.splitlines()[0] else 1)


def test_llamafactory_and_ms_swift(tmp_path):
    path = tmp_path / "trainer_log.jsonl"
    lines = [
        {"current_steps": at, "total_steps": 30, "loss": 2.0 - at / 100, "lr": 1e-4, "epoch": 0.1, "reward": None}
        for at in (10, 20)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = read(str(path))
    assert (found.total, found.last, found.rewarded, found.done) == (30, 20, False, False)
    assert _curves(found)[:3] == ([(10, 1.9), (20, 1.8)], [], [(10, 1e-4), (20, 1e-4)])
    path.write_text('{"loss": 1.9, "global_step/max_steps": "5/5"}\n', encoding="utf-8")
    found = read(str(path))
    assert (found.loss[0].step, found.total, found.done) == (5, 5, True)


def test_what_the_trainer_prints(tmp_path):
    path = tmp_path / "train.out"
    path.write_text(
        "Loading\n  3%|x| {'loss': 2.1, 'grad_norm': nan, 'learning_rate': 0.0001, 'epoch': 0.1}\n"
        "{'eval_loss': 2.0, 'eval_runtime': 1.0, 'epoch': 0.1}\n"
        "{'loss': '1.9', 'grad_norm': '0.41', 'learning_rate': '2e-04', 'epoch': '0.2'}\n{'loss': 1.",
        encoding="utf-8",
    )
    found = read(str(path))
    assert [point.value for point in found.loss] == [2.1, 1.9]
    assert [point.line for point in found.loss] == [2, 4]
    assert str(found.norm[0].value) == "nan"
    assert found.held_out[0].value == 2.0


def test_several_runs_in_one_export_are_told(tmp_path):
    path = tmp_path / "wandb.csv"
    path.write_text("Step,fox - train/loss,owl - train/loss\n1,2.0,3.0\n2,1.9,2.9\n", encoding="utf-8")
    found = read(str(path))
    assert [point.value for point in found.loss] == [2.0, 1.9]
    assert found.notes == ("2 runs stand in one file; looked at: fox - train/loss",)


def test_a_run_that_went_on_from_a_checkpoint_counts_once(tmp_path):
    path = tmp_path / "log.jsonl"
    steps = [(10, 2.0), (20, 9.0), (30, 9.0), (20, 1.9), (30, 1.8)]
    path.write_text("".join(json.dumps({"step": a, "loss": b}) + "\n" for a, b in steps), encoding="utf-8")
    assert _curves(read(str(path)))[0] == [(10, 2.0), (20, 1.9), (30, 1.8)]


# TensorBoard


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _event(step: int, values: dict[str, float], *, tensor: bool = False) -> bytes:
    summary = b""
    for tag, value in values.items():
        held = (
            _field(8, b"\x08\x01" + _field(4, struct.pack("<f", value)))
            if tensor
            else b"\x15" + struct.pack("<f", value)
        )
        summary += _field(1, _field(1, tag.encode()) + held)
    data = b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + _varint(step) + _field(5, summary)
    return struct.pack("<QI", len(data), 0) + data + b"\0\0\0\0"


def _version() -> bytes:
    data = b"\x09" + struct.pack("<d", 1.7e9) + _field(3, b"brain.Event:2")
    return struct.pack("<QI", len(data), 0) + data + b"\0\0\0\0"


@pytest.mark.parametrize("tensor", [False, True])
def test_event_files(tmp_path, tensor):
    data = _version()
    for step, loss in ((10, 2.0), (20, 1.5)):
        data += _event(step, {"train/loss": loss, "train/grad_norm": 0.5}, tensor=tensor)
        data += _event(step, {"eval/loss": 2.25}, tensor=tensor)
    path = tmp_path / "runs" / "Nov30_host" / "events.out.tfevents.1.host.1.0"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    found = read(str(tmp_path))
    assert (found.title, found.file) == ("TensorBoard", str(path))
    assert _curves(found) == (
        [(10, 2.0), (20, 1.5)], [(10, 0.5), (20, 0.5)], [], [(10, 2.25), (20, 2.25)],
    )  # fmt: skip
    for end in range(len(_version()), len(data)):
        assert len(scalars(data[:end])[0]) <= 4
        assert [dict(one.values) for one in scalars(data[:end])[0]] == [
            dict(one.values) for one in scalars(data)[0][: len(scalars(data[:end])[0])]
        ]


def test_event_files_of_one_run_that_was_started_again(tmp_path):
    for at, (steps, when) in enumerate((((10, 20), 100), ((20, 30), 200))):
        path = tmp_path / f"events.out.tfevents.{when}.host.{at}.0"
        path.write_bytes(_version() + b"".join(_event(step, {"train/loss": float(at + 1)}) for step in steps))
        os.utime(path, (when, when))
    assert _curves(read(str(tmp_path)))[0] == [(10, 1.0), (20, 2.0), (30, 2.0)]


@given(st.binary(max_size=400))
def test_no_bytes_break_the_reader_of_events(data):
    scalars(_version() + data)
    scalars(data)
    scalars(struct.pack("<QI", len(data), 0) + data + b"\0\0\0\0")


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_real_event_files_of_torch(tmp_path):
    writer = pytest.importorskip("torch.utils.tensorboard", exc_type=ImportError).SummaryWriter(str(tmp_path))
    for step in range(5):
        writer.add_scalar("train/loss", 2.0 - step / 4, step * 10)
        writer.add_histogram("weights", [1.0, 2.0], step * 10)
    writer.close()
    assert _curves(read(str(tmp_path)))[0] == [(step * 10, 2.0 - step / 4) for step in range(5)]


# Folders, and what is no log


def test_the_newest_log_of_a_folder_counts(tmp_path):
    for number, when in ((500, 10), (1000, 20)):
        folder = tmp_path / f"checkpoint-{number}"
        folder.mkdir()
        (folder / "trainer_state.json").write_text(_state(steps=number), encoding="utf-8")
        os.utime(folder / "trainer_state.json", (when, when))
    assert read(str(tmp_path)).total == 1000
    (tmp_path / "trainer_state.json").write_text(_state(steps=7), encoding="utf-8")
    os.utime(tmp_path / "trainer_state.json", (20, 20))
    assert read(str(tmp_path)).total == 7  # as new as the last checkpoint, and of the run as a whole
    os.utime(tmp_path / "checkpoint-500" / "trainer_state.json", (30, 30))
    assert find(str(tmp_path)) == [str(tmp_path / "checkpoint-500" / "trainer_state.json")]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("config.yaml", "learning_rate: 0.1\n", "no losses are in it"),
        ("trainer_state.json", _state([]), "no losses are in it"),
        ("log.jsonl", '{"current_steps": 5}\n', "no losses are in it"),
        ("empty", "", "no losses are in it"),
        ("rows.csv", "a,b\n1,2\n", "no losses are in it"),
        ("deep.jsonl", "[" * 100_000, "no losses are in it"),
        ("run-x.wandb", ":W&B", "export the history"),
    ],
)
def test_what_is_no_log_is_said(tmp_path, name, text, said):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableError, match=said):
        read(str(tmp_path / name))


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(UnreadableError, match="it cannot be read: no such file"):
        read(str(tmp_path / "gone.json"))
    with pytest.raises(UnreadableError, match=r"no log is there; looked for trainer_state\.json"):
        read(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableError, match="not a regular file"):
        read(str(tmp_path / "pipe"))


@given(st.text(max_size=300))
def test_no_text_breaks_a_reader(text):
    from loralint.watch import records

    for reader in (records.trainer_state, records.json_lines, records.printed, records.table):
        reader(text)
        reader('{"log_history": [' + text)
        reader("step,loss\n" + text)
        reader("{'loss': " + text)


def test_a_folder_of_many_names_is_looked_over_in_part(tmp_path):
    deep = tmp_path.joinpath("a", "b", "c", "d")
    deep.mkdir(parents=True)
    (deep / "trainer_state.json").write_text(_state(), encoding="utf-8")
    with pytest.raises(UnreadableError, match="no log is there"):
        read(str(tmp_path))
    assert Path(deep).exists()


def test_a_line_of_many_losses_without_an_end_takes_no_time(tmp_path):
    (tmp_path / "run.log").write_text("{'" + "'loss'" * 100_000 + "\n{'loss': 1.5, 'epoch': 1}\n", encoding="utf-8")
    began = time.process_time()
    assert [point.value for point in read(str(tmp_path / "run.log")).loss] == [1.5]
    assert time.process_time() - began < 2


@pytest.mark.parametrize("digits", [5000, 400])
def test_a_length_of_thousands_of_digits_is_no_fault(tmp_path, digits):
    text = '{"log_history": [{"loss": 1.0, "step": 1}], "max_steps": ' + "9" * digits + "}"
    (tmp_path / "trainer_state.json").write_text(text, encoding="utf-8")
    found = read(str(tmp_path))
    assert (found.total, found.done) == (math.inf, False)


@pytest.mark.parametrize(("name", "entry"), [("log.jsonl", "{}\n"), ("trainer_state.json", "{},"), ("x.log", "\r")])
def test_more_entries_than_memory_holds_are_refused(tmp_path, monkeypatch, name, entry):
    monkeypatch.setattr("loralint.watch.read._ENTRIES", 1000)
    (tmp_path / name).write_text('{"log_history": [' + entry * 1001, encoding="utf-8", newline="")
    with pytest.raises(UnreadableError, match="of more than 1,000 entries"):
        read(str(tmp_path / name))
