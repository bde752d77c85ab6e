"""`dynamic_import_pkg`: a package that a plugin asks for while it runs. The host installs it."""

import importlib
import importlib.metadata
import site
from typing import TYPE_CHECKING, Any

from callgate_worker import host

if TYPE_CHECKING:
    from packaging.requirements import Requirement


def dynamic_import_pkg(
    package_spec: str,
    import_name: str | None = None,
    *,
    mirror: str | None = None,
    trusted_host: bool = True,
    timeout: int = 300,
    repo_dir: Any = None,
) -> Any:
    """The imported module. Blocks while the host installs into this worker's environment; the
    operator's index is used, not `mirror`."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(package_spec)
    except InvalidRequirement as error:
        raise ValueError(f"'{package_spec}' is not a requirement: {error}") from error
    name = import_name or requirement.name
    if not _is_installed(requirement):
        try:
            host.call_now("env_install", specs=[package_spec])
        except host.HostError as error:
            raise RuntimeError(f"{package_spec} cannot be installed: {error}") from error
        importlib.invalidate_caches()
        for folder in site.getsitepackages():
            site.addsitedir(folder)
    return importlib.import_module(name)


def _is_installed(requirement: "Requirement") -> bool:
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)
