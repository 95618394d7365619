"""Every screen, at every size, in both themes: nothing sticks out, everything can be hit, and axe finds nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.browser.scenes import SCENES, Scene
from tests.support.serving import ROOT, Served, served

AXE = ROOT / "clients" / "web" / "node_modules" / "axe-core" / "axe.min.js"
SIZES = ((360, 640), (390, 844), (768, 1024), (1280, 800), (320, 568), (844, 390))
"""Phones, a tablet, a laptop; the narrowest there is, and a phone on its side."""
TELEVISION = ((1920, 1080), (1280, 720))

CHECK = """only => axe.run(document, { resultTypes: ["violations"], ...only }).then(({ violations }) =>
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`))"""

THEMES: dict[str, dict[str, list[str]]] = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""Nothing but its colours is another by night."""

OUTSIDE = """() => {
    const wide = document.documentElement.scrollWidth > innerWidth + 1
        ? [`the page is ${document.documentElement.scrollWidth} wide`] : [];
    const shown = element => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".unseen");
    const small = [...document.querySelectorAll("button, a[href], select, input, summary")]
        .filter(shown)
        .filter(element => {
            const { width, height } = (element.closest("label") ?? element).getBoundingClientRect();
            return width < 43.5 || height < 43.5;
        })
        .map(element => `${element.tagName} ${element.textContent.trim().slice(0, 30)} is too small to hit`);
    const names = ":is(:root[data-tv], dialog) .lane .name, :root[data-tv] [data-seat] .name, .title";
    const cut = [...document.querySelectorAll(`.button, .line, h1, h2, .code strong, ${names}`)]
        .filter(shown)
        .filter(element => element.scrollWidth > element.clientWidth + 1)
        .map(element => `${element.textContent.trim().slice(0, 30)} is cut off`);
    const tiny = [...document.querySelectorAll("[data-testid=pile]")]
        .filter(element => element.getBoundingClientRect().height < 80)
        .map(() => "the card is too small to know");
    const unseen = [...document.querySelectorAll("[data-testid=dealer], button.own, .target, .call")]
        .filter(element => {
            const { top, bottom, height } = element.getBoundingClientRect();
            return !height || top < 0 || bottom > innerHeight;
        })
        .map(element => `${element.className} is not to be seen`);
    const off = [...document.querySelectorAll(":root[data-tv] :is([data-seat], .finish, .side button)")]
        .filter(shown)
        .filter(element => {
            const { top, left, bottom, right } = element.getBoundingClientRect();
            return top < 0 || left < 0 || bottom > innerHeight || right > innerWidth;
        })
        .map(element => `${element.textContent.trim().slice(0, 30)} is off the screen`);
    return [...wide, ...small, ...cut, ...tiny, ...unseen, ...off];
}"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server that the page comes from, with its content policy."""
    with served(tmp_path_factory.mktemp("stage")) as server:
        yield server


@pytest.fixture
def context(chromium: Browser, stage: Served) -> Iterator[BrowserContext]:
    """A phone that was never here."""
    context = chromium.new_context(
        base_url=stage.url, viewport={"width": 390, "height": 844}, has_touch=True, service_workers="block"
    )
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_screen_fits_every_phone_and_has_nothing_that_axe_would_mend(context: BrowserContext, scene: Scene) -> None:
    complaints: list[str] = []
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    # A refused script or style would be written there.
    context.on("console", lambda line: complaints.append(line.text) if "Content Security" in line.text else None)
    page = scene.set(context)
    sizes = TELEVISION if scene.name.startswith("tv") else SIZES
    page.set_viewport_size({"width": sizes[0][0], "height": sizes[0][1]})
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for theme, only in THEMES.items():
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        complaints += [f"{theme}: {found}" for found in page.evaluate(CHECK, only)]
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        complaints += [f"{width}x{height}: {found}" for found in page.evaluate(OUTSIDE)]
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("() => document.documentElement.toggleAttribute('data-big', true)")
    complaints += [f"big text: {found}" for found in page.evaluate(OUTSIDE)] if sizes is SIZES else []
    assert complaints == []


TWICE = {"webkit": {"webprefs": {"default_font_size": 32}}}
READ = (
    "home",
    "join",
    "lobby-host",
    "lobby-switches",
    "lobby-claimed",
    "your-turn",
    "photo-finish",
    "shout",
    "calm",
    "judge",
)


@pytest.mark.timeout(90)
def test_text_may_be_twice_as_large(chromium: Browser, stage: Served, tmp_path: Path) -> None:
    """As somebody has set it in their browser."""
    (tmp_path / "Default").mkdir()
    (tmp_path / "Default" / "Preferences").write_text(json.dumps(TWICE), encoding="utf-8")
    context = chromium.browser_type.launch_persistent_context(
        tmp_path,
        executable_path=CHROMIUM,
        args=ARGUMENTS,
        base_url=stage.url,
        viewport={"width": 390, "height": 844},
        service_workers="block",
    )
    complaints: list[str] = []
    for scene in SCENES:
        if scene.name in (*READ, "menu", "break", "leaderboard", "how", "settings", "move"):
            page = scene.set(context)
            assert page.evaluate("() => getComputedStyle(document.documentElement).fontSize") == "32px"
            complaints += [f"{scene.name}: {found}" for found in page.evaluate(OUTSIDE)]
            page.close()
    context.close()
    assert complaints == []


@pytest.mark.timeout(60)
@pytest.mark.parametrize("language", ["de", "es", "fr"])
@pytest.mark.parametrize(
    "name", ["home", "lobby-host", "lobby-switches", "shout", "photo-finish", "break", "how", "settings"]
)
def test_no_language_is_too_long_for_a_small_phone(context: BrowserContext, name: str, language: str) -> None:
    (scene,) = (each for each in SCENES if each.name == name)
    page = scene.set(context, language)
    assert page.evaluate("() => document.documentElement.lang") == language
    for width, height in ((360, 640), (320, 568)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(OUTSIDE) == []
