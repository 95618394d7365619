"""The release: one version, and packages that have in them what they need and nothing else.

That they install and run in an empty environment is for whoever makes a release: CONTRIBUTING.md says how.
"""

import json
import re

from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

from server import __version__
from tests.support.serving import ROOT


def test_the_version_stands_in_one_place_and_the_changelog_begins_with_it() -> None:
    changes = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert next(change for change in changes if change != "Unreleased") == __version__
    assert WheelBuilder(str(ROOT)).metadata.version == __version__
    assert "version" not in json.loads((ROOT / "clients" / "web" / "package.json").read_text("utf-8"))


def test_the_source_package_has_all_that_the_page_is_built_from() -> None:
    files = {file.distribution_path for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    needed = {"LICENSE", "README.md", "hatch_build.py", "tools/web.py", "clients/web/package-lock.json", "Makefile"}
    assert files >= needed | {"clients/web/src/main.ts", "clients/web/.npmrc", "clients/web/index.html"}
    strangers = (".venv/", "build/", "clients/web/node_modules/", "clients/web/dist/", "test-output/")
    assert [file for file in files if file.startswith(strangers)] == []


def test_the_wheel_has_the_four_packages_with_their_scripts() -> None:
    files = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {file.split("/")[0] for file in files} == {"clients", "engine", "server", "wire"}
    scripts = {str(script.relative_to(ROOT)) for script in (ROOT / "server" / "store").glob("*.lua")}
    assert scripts
    assert files >= scripts | {"clients/py.typed", "engine/py.typed", "server/py.typed"}
    assert [file for file in files if file.startswith("clients/web/")] == [], "the page itself comes from the build"
