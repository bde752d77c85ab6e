"""Packages are installed by the host into the plugin's environment, never by a plugin's own pip."""

from __future__ import annotations

import logging

from callgate_worker import host

logger = logging.getLogger("astrbot")


class DependencyConflictError(Exception):
    """The wanted packages do not fit together."""


class PipInstallError(Exception):
    """The host could not install a package."""


class PipInstaller:
    async def install(
        self,
        package_name: str | None = None,
        requirements_path: str | None = None,
        mirror: str | None = None,
        **_: object,
    ) -> None:
        specs = package_name.split() if package_name else []
        if requirements_path:
            with open(requirements_path, encoding="utf-8") as lines:
                specs += [line.split("#")[0].strip() for line in lines if line.split("#")[0].strip()]
        try:
            await host.call("env_install", specs=specs)
        except host.HostError as error:
            raise PipInstallError(str(error)) from error

    def prefer_installed_dependencies(self, requirements_path: str) -> None:
        return None
