"""A Kubernetes API server of its own on loopback: etcd and kube-apiserver from the folder in KUBEBUILDER_ASSETS."""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import time
from pathlib import Path

import httpx
import trustme
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.webhook.server import ROOT, free_port

ASSETS = Path(os.environ.get("KUBEBUILDER_ASSETS") or "/nonexistent")
WANTED = ("etcd", "kube-apiserver")
# user, groups; the token is the user's name
USERS = {
    "admin": "system:masters",
    "author": "system:authenticated",
    "certs": "system:authenticated",
    "service": "system:authenticated",
    "scanner": "system:authenticated",
    "system:serviceaccount:kube-system:job-controller": "system:masters",
}


def available():
    return all((ASSETS / one).is_file() for one in WANTED)


class Cluster:
    def __init__(self, folder):
        self.folder, self.ca, self.port, etcd = folder, trustme.CA(), free_port(), free_port()
        self._write_keys()
        url = f"http://127.0.0.1:{etcd}"
        self.processes = [
            self._start("etcd", "--data-dir", str(folder / "etcd"), "--listen-client-urls", url,
                        "--advertise-client-urls", url, "--listen-peer-urls", f"http://127.0.0.1:{free_port()}"),
            self._start("kube-apiserver", *self._flags(url)),
        ]  # fmt: skip
        self.http = self.client("admin")

    def _flags(self, etcd):
        at = self.folder
        return (
            f"--etcd-servers={etcd}", "--bind-address=127.0.0.1", f"--secure-port={self.port}",
            f"--tls-cert-file={at}/server.crt", f"--tls-private-key-file={at}/server.key",
            f"--token-auth-file={at}/tokens.csv", "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={at}/account.pub",
            f"--service-account-signing-key-file={at}/account.key", "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none",
            f"--cert-dir={at}/certs", f"--audit-policy-file={at}/audit.yaml", f"--audit-log-path={at}/audit.log",
            "--audit-log-mode=blocking-strict",
        )  # fmt: skip

    def _start(self, name, *flags):
        with (self.folder / f"{name}.log").open("w") as log:
            return subprocess.Popen([ASSETS / name, *flags], stdout=log, stderr=subprocess.STDOUT, cwd=self.folder)

    def _write_keys(self):
        made = self.ca.issue_cert("127.0.0.1")
        (self.folder / "server.key").write_bytes(made.private_key_pem.bytes())
        (self.folder / "server.crt").write_bytes(b"".join(one.bytes() for one in made.cert_chain_pems))
        (self.folder / "ca.crt").write_bytes(self.ca.cert_pem.bytes())
        key = rsa.generate_private_key(65537, 2048)
        pem, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        (self.folder / "account.pub").write_bytes(key.public_key().public_bytes(pem, form))
        private = serialization.PrivateFormat.TraditionalOpenSSL
        (self.folder / "account.key").write_bytes(key.private_bytes(pem, private, serialization.NoEncryption()))
        rows = (f'{user},{user},{number},"{groups}"\n' for number, (user, groups) in enumerate(USERS.items()))
        (self.folder / "tokens.csv").write_text("".join(rows))
        rule = "{level: Metadata, omitStages: [RequestReceived], verbs: [create, update, patch]}"
        (self.folder / "audit.yaml").write_text(f"apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{rule}]\n")

    def client(self, user, **given):
        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        head = {"Authorization": f"Bearer {user}"}
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.port}", verify=context, timeout=60, headers=head, **given
        )

    def kubeconfig(self, user):
        file = self.folder / f"kubeconfig-{abs(hash(user))}"
        server = {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": str(self.folder / "ca.crt")}
        file.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": server}],
            "users": [{"name": "it", "user": {"token": user}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        }))  # fmt: skip
        return file

    def wait(self):
        until = time.monotonic() + 180
        while time.monotonic() < until:
            for one in self.processes:
                assert one.poll() is None, self.log()
            try:
                if self.http.get("/readyz").status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(0.5)
        raise AssertionError(self.log())

    def log(self):
        return "".join((self.folder / f"{name}.log").read_text()[-4000:] for name in WANTED)

    def audit(self):
        return [json.loads(line) for line in (self.folder / "audit.log").read_text().splitlines()]

    def stop(self):
        self.http.close()
        for one in reversed(self.processes):
            one.kill()
            one.wait()


def kinds():
    """CRDs of the watched kinds, as small as the API server takes them, but of one that this cluster does not have."""
    from loralint.webhook.resources import RESOURCES

    for one in RESOURCES:
        if "." in one.group and one.group != "kaiwo.silogen.ai":
            yield definition(one.group, one.kind, one.plural, one.versions, namespaced=one.is_namespaced)


def definition(group, kind, plural, versions, *, namespaced=True):
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = [
        {"name": one, "served": True, "storage": one == versions[0], "schema": schema} for one in versions
    ]  # fmt: skip
    note = {"api-approved.kubernetes.io": "unapproved, for a test"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": note},
        "spec": {
            "group": group, "scope": "Namespaced" if namespaced else "Cluster", "versions": served,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
        },
    }  # fmt: skip


def rendered(folder):
    """The objects of a Kustomize base."""
    text = (ROOT / "deploy" / "kustomize" / folder / "loralint.yaml").read_text("utf-8")
    return list(yaml.safe_load_all(text))


def hooks(ca, port, *, policy="Ignore", seconds=3, folder="cert-manager"):
    """The validating configuration of the Kustomize base, with the server on loopback in place of a Service."""
    made = next(one for one in rendered(folder) if one["kind"] == "ValidatingWebhookConfiguration")
    bundle = base64.b64encode(ca.cert_pem.bytes()).decode()
    for hook in made["webhooks"]:
        path = hook["clientConfig"]["service"]["path"]
        hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
        hook |= {"failurePolicy": policy, "timeoutSeconds": seconds}
    return made


def granted(api, objects, account, user):
    """Give a user what the chart gives a service account, and nothing else."""
    at = "/apis/rbac.authorization.k8s.io/v1"
    for one in objects:
        spaced = f"/namespaces/{one['metadata'].get('namespace', 'loralint')}" if one["kind"].startswith("Role") else ""
        path = f"{at}{spaced}/{one['kind'].lower()}s"
        if one["kind"] in ("Role", "ClusterRole"):
            api.http.post(path, json=one)
        elif one["kind"] in ("RoleBinding", "ClusterRoleBinding") and one["subjects"][0]["name"] == account:
            subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
            made = {**one, "metadata": {"name": f"{one['metadata']['name']}-test"}, "subjects": [subject]}
            assert api.http.post(path, json=made).status_code in (201, 409)
