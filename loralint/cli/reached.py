"""The API server of a cluster, for the commands that ask it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from loralint.cli.options import usage
from loralint.source.clean import clean

if TYPE_CHECKING:
    from lightkube import Client

kubeconfig = click.option(
    "--kubeconfig", metavar="FILE", type=click.Path(exists=True, dir_okay=False),
    help="A way to the cluster; else the pod's service account, or KUBECONFIG.",
)  # fmt: skip


@contextmanager
def reached(file: str | None) -> Iterator[Client]:
    """A client. What keeps it from an answer ends the command: 2 no way there, 3 the server refused."""
    if any(find_spec(one) is None for one in ("lightkube", "cryptography")):
        raise usage("this needs more packages: pip install '.[webhook]' in a checkout")
    from httpx2 import HTTPError, HTTPStatusError
    from lightkube import Client, KubeConfig
    from lightkube.core.exceptions import ConfigError

    from loralint.webhook.stored import refusal
    from loralint.webhook.way import way

    try:
        config = way(partial(KubeConfig.from_file, file) if file else KubeConfig.from_env)
        with closing(Client(config=config)) as client:
            yield client
    except HTTPStatusError as error:  # which is an HTTPError, too
        asked = error.request.url.path.rpartition("/")[2]
        click.echo(f"the API server refused {asked}: {clean(refusal(error), 200)}", err=True)
        sys.exit(3)
    except (ConfigError, OSError, HTTPError) as error:
        remedy = "look at the file of --kubeconfig" if file else "give --kubeconfig FILE"
        raise usage(f"no way to the API server: {clean(str(error), 200)}; {remedy}") from None
