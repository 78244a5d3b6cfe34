"""A real repository with a base and a branch that changes it, and people with keys of their own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

CONFIG = "configs/train.yaml"
GOOD = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\n"
    "micro_batch_size: 1\nlearning_rate: 0.0002\n"
)
BAD = GOOD.replace("lora_r: 16", "lora_r: 0")  # tier S
ODD = GOOD + "lora_aplha: 32\n"  # tier A


class Repository:
    """`main` holds the base; the working tree is on the branch `change`."""

    def __init__(self, folder: Path, keys: Path) -> None:
        self.folder, self.keys = folder, keys
        self.as_person("ann")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True, env=self._env)
        return done.stdout.decode().strip()

    def as_person(self, name: str, email: str = "", *, key: str = "", signs: bool = True) -> None:
        """Who makes the next commits, with which key."""
        self._env = {
            **os.environ, "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email or f"{name}@example.org",
            "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email or f"{name}@example.org",
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
        }  # fmt: skip
        self.signing = ["-c", "gpg.format=ssh", "-c", f"user.signingkey={self.key(key or name)}"] if signs else []

    def key(self, name: str) -> Path:
        return self.keys / name

    def write(self, name: str, text: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, message: str = "change", **files: Any) -> str:
        """Commit everything that lies there."""
        for name, text in files.items():
            self.write(name, text)
        self.git("add", "--all", "--force")
        sign = ["-S"] if self.signing else ["--no-gpg-sign"]
        self.git(*self.signing, "commit", "-q", "--allow-empty", *sign, "-m", message)
        return self.git("rev-parse", "HEAD")

    def branch(self) -> None:
        self.git("checkout", "-q", "-b", "change")

    @contextmanager
    def base(self) -> Iterator[None]:
        """Write into the base, and start the branch from it."""
        self.git("checkout", "-q", "main")
        yield
        self.commit("base")
        self.git("checkout", "-q", "-B", "change")

    def propose(self, text: str, name: str = "mallory", **given: Any) -> None:
        """Somebody's change of the config."""
        self.as_person(name, **given)
        self.write(CONFIG, text)
        self.commit()

    def approved(self, *names: str) -> None:
        """These people approve the one finding that waits, and all of it is committed."""
        for name in names:
            self.approve(name)
        self.commit("approve")

    def run(self, *words: str) -> Result:
        from loralint.cli import main

        return CliRunner().invoke(main, list(words), prog_name="loralint", env={"GIT_CONFIG_GLOBAL": "/dev/null"})

    def gate(self, *words: str, base: str = "main") -> Result:
        return self.run("gate", "--base", base, *words)

    def rules(self, *words: str, base: str = "main") -> list[tuple[str, str]]:
        """(tier, rule) of what stands."""
        result = self.run("gate", "--base", base, "--format", "json", *words)
        assert result.exit_code in (0, 1), result.output
        runs = json.loads(result.stdout)["runs"]
        return [(one["tier"], one["rule"]) for run in runs for one in run["findings"] if one["suppressed"] is None]

    def approve(self, name: str, *words: str, reason: str = "swept, see experiment 14") -> None:
        """Approve the one finding that waits, with somebody's key."""
        result = self.gate()
        found = result.output.partition("loralint approve ")[2].split()[0]
        done = self.run("approve", found, "--reason", reason, "--key", str(self.key(name)), *words)
        assert done.exit_code == 0, done.output


@pytest.fixture(scope="session")
def keys(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ann", "bob", "eve", "mallory", "mallory2", "stranger"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True
        )
    return folder


def signers(keys: Path, *pairs: tuple[str, str]) -> str:
    """Lines of an allowed-signers file: (names, key)."""
    return "".join(f"{names} {(keys / f'{key}.pub').read_text().strip()}\n" for names, key in pairs)


@pytest.fixture
def repository(tmp_path: Path, keys: Path, monkeypatch) -> Repository:
    """A base with one good config and the keys of four people; nothing changed yet."""
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    made = Repository(folder, keys)
    made.git("init", "-q", "-b", "main", ".")
    made.write(CONFIG, GOOD)
    people = [(f"{name}@example.org", name) for name in ("ann", "bob", "eve", "mallory")]
    made.write(".loralint/allowed_signers", signers(keys, *people))
    made.commit("base")
    made.branch()
    return made
