"""The machines that a job of SageMaker asks for: their GPUs by the type of instance."""

from __future__ import annotations

from loralint.frameworks.instances import instance
from loralint.frameworks.python.estimators import Job, nodes_of, text
from loralint.frameworks.table import Reader, Values
from loralint.model import Value
from loralint.source.document import Document, Mark, Node


def machines(document: Document, job: Job) -> Document:
    """A document whose root is the call that asks for the machines."""
    made = Document(document.file, "flags", document.text)
    made.lines, made.sealed, span = document.lines, document.sealed, job.machine.span
    made.roots = [Node("mapping", "map", Mark(span.start, made.lines), Mark(span.end, made.lines))]
    return made


def reader_of(job: Job) -> Reader:
    """The reader of the machines that a job asks for."""
    at = job.machine.arg("instance_type")
    gpu, cards = instance(text(job.machine, "instance_type"))
    nodes = nodes_of(job)

    def combine(document: Document, _: Values) -> Values:
        if at is None or not cards:
            return {}
        told: dict[str, object] = {"run.gpu": gpu, "job.gpus_per_node": cards, "dist.visible_devices": cards}
        told |= {"job.nodes": nodes, "run.gpu_count": nodes * cards} if nodes else {}
        place = Value(None, key=at.name, pointer=f"/{at.name}", text=at.node.raw, span=document.span(at.node))
        return {field: (place._replace(value=value, field=field),) for field, value in told.items()}

    return Reader(
        name="cloud", title="SageMaker", dialect="python", table=(), keys="", coerces=True, packages=(),
        combine=combine, documents=True,
    )  # fmt: skip
