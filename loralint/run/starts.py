"""From one file to the runs that it starts, each with all that it reads."""

from __future__ import annotations

import os
import re

from loralint.frameworks.signatures import JOB_KINDS, TASK_SIGNS
from loralint.model import Value
from loralint.run.assemble import config_start
from loralint.run.build import Assembled, Start, build
from loralint.run.config import Config
from loralint.run.options import Options
from loralint.run.pins import pins_near
from loralint.run.project import Project
from loralint.source.document import Document

# How the names of companions end; a text without one of these names none.
_SUFFIXES = (".json", ".hjson", ".yaml", ".yml", ".toml")
# How the values of a Helm chart are called, or the folders of a chart in which other sets of them lie.
_VALUES = r"(?i)(?:^|[-_.])values(?:[-_.]|$)"
_SETS = frozenset({"ci", "overrides", "values"})
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")
_SHELLS = frozenset({"shell", "make", "powershell", "cmd"})


def starts(document: Document, options: Options, project: Project) -> list[Assembled]:
    """The runs that this file starts: one for a config, one for each launch of a script, none for anything else."""
    found = _starts(document, options, project)
    for file in (file for start in found for file in start.modules):
        project.claim(file)
    return [_with_model(build(start, options), options, project) for start in found]


def _with_model(built: Assembled, options: Options, project: Project) -> Assembled:
    """The run, which will look for its base model's config.json when that is asked for."""

    def find(config: Config) -> Value | None:
        base = config.get("model.base").value
        beside = project.model_config(base, config.main.document.file) if base and isinstance(base, str) else None
        if beside is None and not options.model_configs and not options.model_cache:
            return None  # as nearly always, for which nothing more is imported
        from loralint.run.base_model import model_config

        return model_config(config, options, beside)

    built.config.add("run.model_config", find)
    if built.config.reader.name == "llamafactory":
        built = _with_list(built, project)
    built.config.add("run.base_adapter", lambda config: _adapter_instead(config, project))
    if options.meant and isinstance(base := built.config.get("model.base").value, str):
        project.bases[base] = None
    return built


def _adapter_instead(config: Config, project: Project) -> Value | None:
    """The file that shows that a base model's folder holds an adapter; None for a model, or an id."""
    base, file = config.get("model.base"), config.main.document.file
    if not isinstance(base.value, str) or not base.value or project.model_config(base.value, file) is not None:
        return None
    found = project.path(f"{base.value}/adapter_config.json", file)
    return Value(found[1], "companion", base.key, field="run.base_adapter", reads=(base,)) if found else None


def _with_list(built: Assembled, project: Project) -> Assembled:
    """The run with what is seen in the list of its datasets, which it can look into when that is asked for."""
    from loralint.run.dataset_list import listed, pairs, unlisted

    built.config.add("run.pairs", lambda config: pairs(config, project))
    built.config.add("run.unlisted", lambda config: unlisted(config, project))
    found = listed(built.config, project)
    if found is None or built.config.reader.keys != "llamafactory":  # v1 has no such list
        return built
    from loralint.run.dataset_entries import observed

    seen = observed(built.config, found)
    documents = (*built.documents, found) if seen else built.documents
    return built._replace(observations=(*built.observations, *seen), documents=documents)


def _starts(document: Document, options: Options, project: Project) -> list[Start]:
    if document.format in ("python", "notebook"):
        from loralint.run.beside import with_neighbour
        from loralint.run.scripts import alone, script_starts
        from loralint.run.sessions import launching, session_starts
        from loralint.source.overrides import Line

        def find(name: str) -> Document | None:
            return project.find(name, document.file)

        before, script = set(project.claimed), launching(document, find, project.module)
        several = script_starts(document, find, script, project.module, line=Line(project.beside))
        found = [with_neighbour(alone(start, options, project), document.file, project) for start in several]
        found += session_starts(script, options, project) if script is not None else []
        if not found:  # what it loads belongs to no run of its own
            project.claimed &= before
    elif document.format in _SHELLS:
        from loralint.run.launches import launch_starts

        found = launch_starts(document, options, project)
    elif options.framework in ("", "kubernetes") and is_manifest(document):
        from loralint.run.manifests import manifest_starts

        return manifest_starts(document, options, project)
    elif options.framework in ("", "kubernetes") and document.file.endswith(_KUSTOMIZATIONS):
        from loralint.run.overlaid import kustomization_starts

        return kustomization_starts(document, options, project)
    elif document.format == "text" and not options.framework:
        from loralint.run.variables import variables_start

        start = variables_start(document)
        found = [start] if start is not None else []
    else:
        found = _of_task(document, options, project) or _of_config(document, options, project)
    pins = pins_near(document.file, project) if found else {}
    found = [_with_companions(start._replace(pins={**pins, **start.pins}), options, project) for start in found]
    if any(start.reader.name == "llamafactory" for start in found):
        from loralint.run.copies import with_templates

        found = [with_templates(start, project) for start in found]
    if any("train_data_dir" in part.document.text for start in found for part in start.parts[:1]):
        found = [_with_pictures(start, project) for start in found]
    return found


def _with_pictures(start: Start, project: Project) -> Start:
    if start.reader.name == "diffusers":
        from loralint.run.image_folders import with_images

        return with_images(start, project)
    from loralint.run.picture_folders import KOHYA, with_pictures

    return with_pictures(start, project) if start.reader.name in KOHYA else start


def _of_task(document: Document, options: Options, project: Project) -> list[Start]:
    """The trainings that a file launches which hands commands to a cloud; see `run.tasks`."""
    keys = {pair.key for root in document.roots if root.kind == "mapping" for pair in root.pairs}
    if options.framework or TASK_SIGNS.isdisjoint(keys):
        return []
    from loralint.run.tasks import task_starts

    return task_starts(document, options, project)


def _of_config(document: Document, options: Options, project: Project) -> list[Start]:
    start = config_start(document, options)
    if start is not None and not options.framework and _may_be_values(document.file):
        from loralint.run.charts import chart_values

        start = chart_values(document) or start
    if start is not None and start.reader.name == "simpletuner":
        from loralint.run.variables import with_variables

        start = with_variables(start, document, project)
    if start is not None and document.root is not None and document.root.get("defaults") is not None:
        from loralint.run.composed import with_defaults

        start = with_defaults(start, document, project.beside)
    return [start] if start is not None else []


def _may_be_values(file: str) -> bool:
    """Whether a file is called as the values of a chart are; `run.charts` looks for the chart."""
    folder, name = os.path.split(os.path.abspath(file))
    return re.search(_VALUES, name) is not None or os.path.basename(folder) in _SETS


def is_manifest(document: Document) -> bool:
    """Whether a file holds objects of Kubernetes that may start a training, or hold the config of one."""
    objects = [one for one in document.roots if one.kind == "mapping" and one.pair("apiVersion") is not None]
    return any(kind.raw in JOB_KINDS or kind.raw == "ConfigMap" for one in objects if (kind := one.get("kind")))


def _with_companions(start: Start, options: Options, project: Project) -> Start:
    """The start with the files that its parts name, and with those that the caller gave."""
    if (
        not options.companions
        and not options.env
        and not any(one in part.document.text for part in start.parts for one in _SUFFIXES)
    ):
        return start
    from loralint.run.companions import joined

    return joined(start, options, start.files or project)
