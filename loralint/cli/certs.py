"""`loralint certs`."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from loralint.cli.options import usage
from loralint.cli.reached import kubeconfig, reached


@click.command("certs")
@click.option("--namespace", default="loralint", show_default=True, help="Where the service and its Secrets are.")
@click.option("--service", default="loralint", show_default=True, help="Its name; SERVICE-ca and SERVICE-tls are made.")
@click.option("--configuration", default="loralint", show_default=True, help="Name of the webhook configurations.")
@click.option("--ca-days", type=click.IntRange(min=30), default=365, show_default=True, help="Life of a CA.")
@click.option("--leaf-days", type=click.IntRange(2, 90), default=14, show_default=True, help="Life of a certificate.")
@click.option("--withdraw", is_flag=True, help="Only delete the webhook configurations, before the service goes.")
@kubeconfig
def command(
    namespace: str, service: str, configuration: str, ca_days: int, leaf_days: int, withdraw: bool,
    kubeconfig: str | None,
) -> None:  # fmt: skip
    """Make and renew the webhook's own certificates in a cluster: docs/kubernetes.md.

    What is there and good stays. Exit codes: 0 all is as it should be, 2 usage or nobody to tell the CA to, 3 the API
    server refused.
    """
    with reached(kubeconfig) as client:
        from loralint.webhook import certs
        from loralint.webhook.issuing import Wanted

        place = certs.Place(namespace, service, configuration)
        if withdraw:
            done, is_known = certs.withdraw(client, configuration), True
        else:
            done, is_known = certs.renew(client, place, Wanted(place.names, ca_days, leaf_days), datetime.now(UTC))
    click.echo("; ".join(done) or "nothing to do")
    if not is_known:
        raise usage(
            f"no webhook configuration is called {configuration}, so that the API server knows no CA and asks nobody;"
            " give --configuration NAME, or bring it back where it was deleted (helm upgrade)"
        )
