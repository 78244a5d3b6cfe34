"""`loralint serve`."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from loralint.cli.named_settings import settings_file, settings_text
from loralint.cli.options import usage

if TYPE_CHECKING:
    from loralint.webhook.tls import Certificate

_NEEDED = ("starlette", "uvicorn", "httptools", "lightkube", "prometheus_client", "cryptography")
_PORT = click.IntRange(1, 65535)


@click.command("serve")
@click.option("--host", default="0.0.0.0", show_default=True, help="Address of both ports.")  # noqa: S104 - of a pod
@click.option("--port", type=_PORT, default=8443, show_default=True, help="Of the API server's HTTPS.")
@click.option(
    "--metrics-port", type=click.IntRange(0, 65535), default=8080, show_default=True,
    help="Of /metrics and the probes, without TLS; 0 for none.",
)  # fmt: skip
@click.option(
    "--cert-dir", metavar="DIR", required=True, type=click.Path(exists=True, file_okay=False),
    help="Folder with tls.crt and tls.key; changes are taken over.",
)  # fmt: skip
@click.option("--cert-poll", type=click.FloatRange(min=0.1), default=10.0, show_default=True, help="Seconds.")
@click.option(
    "--mode", type=click.Choice(["off", "warn", "enforce"]), default="warn", show_default=True,
    help="Of the path /validate; /validate/warn and /validate/enforce say it themselves.",
)  # fmt: skip
@click.option("--mutate", is_flag=True, help="Mend small faults of new ConfigMaps by /mutate.")
@click.option("--pods", is_flag=True, help="Judge bare Pods too.")
@click.option(
    "--lookup/--no-lookup", default=None, help="Get the ConfigMaps that jobs mount; on where a cluster is at hand."
)
@click.option(
    "--kubeconfig", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="A way to the cluster."
)
@click.option(
    "--trusted-controller", "controllers", metavar="USER", multiple=True,
    help="A user whose objects were checked with their parents, besides Kubernetes' own two; repeatable.",
)  # fmt: skip
@click.option(
    "--workers", type=click.IntRange(1, 64), help="Processes for small objects; one for each CPU if not given."
)
@click.option("--gpu", metavar="GPU", default="", help="Card of all objects that name none.")
@click.option("--target", metavar="PACKAGE=VERSION", multiple=True, help="Judge by this version; repeatable.")
@click.option("--select", metavar="RULE", multiple=True, help="Judge by these rules only; repeatable.")
@click.option("--ignore", metavar="RULE", multiple=True, help="Leave a rule out; repeatable.")
@settings_file
@click.option("--drain-delay", type=click.FloatRange(min=0), default=0.0, help="Seconds served on after SIGTERM.")
@click.option("--drain-timeout", type=click.FloatRange(min=1), default=15.0, help="Seconds for what is in flight then.")
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "error"]), default="info", show_default=True,
    help="The least that is logged; debug logs every review.",
)  # fmt: skip
def command(  # noqa: PLR0917 - click hands over every option
    host: str, port: int, metrics_port: int, cert_dir: str, cert_poll: float, mode: str, mutate: bool, pods: bool,
    lookup: bool | None, kubeconfig: str | None, controllers: tuple[str, ...], workers: int | None, gpu: str,
    target: tuple[str, ...], select: tuple[str, ...], ignore: tuple[str, ...], settings_file: str | None,
    drain_delay: float, drain_timeout: float, log_level: str,
) -> None:  # fmt: skip
    """Serve a Kubernetes API server as an admission webhook: docs/webhook.md.

    Runs until SIGTERM, then finishes what is in flight. Exit codes: 0 ended so, 2 usage, 3 internal error.
    """
    if any(find_spec(one) is None for one in _NEEDED):
        raise usage("the admission webhook needs more packages: pip install '.[webhook]' in a checkout")
    from loralint.engine.settings import SettingsError
    from loralint.webhook.admission import Policy
    from loralint.webhook.decision import CONTROLLERS
    from loralint.webhook.serve import Listening, PortError, serve
    from loralint.webhook.wire import Options
    from loralint.webhook.worker import job_of

    asked = lookup if lookup is not None else bool(kubeconfig or os.environ.get("KUBERNETES_SERVICE_HOST"))
    try:
        judging = Options(gpu, target, select, ignore, pods, settings_text(settings_file), settings_file or "")
        job_of(judging)  # says what is not known before a worker fails
        serve(
            Listening(host, port, metrics_port, cert_poll, drain_delay, drain_timeout),
            _certificate(cert_dir),
            Policy(mode, mutate, pods, CONTROLLERS | frozenset(controllers)),
            judging,
            workers=workers or os.cpu_count() or 1,
            level=log_level,
            kubeconfig=(kubeconfig or "") if asked else None,
        )
    except PortError as error:
        raise usage(f"{host}: {error}; choose other ports") from None
    except (ValueError, SettingsError) as error:
        raise usage(str(error)) from None


def _certificate(folder: str) -> Certificate:
    from loralint.webhook.tls import CERTIFICATE, KEY, Certificate

    try:
        return Certificate(folder)
    except (OSError, ValueError):
        raise usage(f"{folder} needs a certificate that can be used: {CERTIFICATE}, and {KEY} for it") from None
