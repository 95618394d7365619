"""The tables at which the dealer is tried: kinds of lines, phones and people, and everybody who cheats at them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.simulation.links import Network
from tests.simulation.phones import HONEST, Device, Human, Liar
from tests.simulation.world import Player

Link = tuple[float, float]
"""Round trip and jitter in ms."""

MIX: tuple[Link, ...] = ((15, 3), (40, 6), (90, 12), (220, 25))
"""The four phones at the table of docs/fairness.md."""

SIX: tuple[Link, ...] = ((15, 3), (40, 6), (90, 12), (150, 15), (220, 25), (300, 25))
CHEATS_TABLE: tuple[Link, ...] = ((30, 4), (40, 6), (90, 12), (180, 20))
WIFI: tuple[Link, ...] = ((6, 3), (6, 3), (6, 3), (6, 3))
ORDINARY = Device()
KEEN = Human(spread_ms=60)
"""People who are nearly alike: more close calls than at any real table."""

QUICK = Human(mean_ms=450, spread_ms=120)
BUSY = Device(busy=0.05, busy_ms=(50, 150))
"""A page that is at something else for 50 to 150 ms every two seconds."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A table, and the phone at it that is looked at. `direct`: the server's kernel sees the phones themselves."""

    name: str
    players: tuple[Player, ...]
    direct: bool = False
    at: int = 0


def table(
    links: Sequence[Link],
    *,
    human: Human = KEEN,
    device: Device = ORDINARY,
    stalled: float = 0.0,
    stall_ms: float = 200.0,
    bursts: float = 0.0,
    down_shares: Sequence[float] = (0.5,),
) -> tuple[Player, ...]:
    """Honest people at these links."""
    return tuple(
        Player(Network(rtt, jitter, down_shares[n % len(down_shares)], stalled, stall_ms, bursts), human, device=device)
        for n, (rtt, jitter) in enumerate(links)
    )


def worlds() -> list[Scene]:
    """Honest tables, each with something that goes wrong on lines and phones."""
    behind = list(table(MIX))
    behind[3] = replace(behind[3], network=replace(behind[3].network, kernel_ms=20))
    hertz = [
        replace(player, device=Device(hz=60 + 60 * (n % 2), ppm=100, touch_hz=60 + 60 * (n % 2)))
        for n, player in enumerate(table(SIX))
    ]
    return [
        Scene("mixed links", table(MIX)),
        Scene("six players up to 300 ms", table(SIX)),
        Scene("paths of 20/80 %", table(((100, 8),) * 4, down_shares=(0.2, 0.8, 0.5, 0.5))),
        Scene("2 % stalls of up to 200 ms and 2 % jank", table(MIX, stalled=0.02, device=Device(busy=0.02))),
        Scene("2 % stalls of up to 300 ms", table(MIX, stalled=0.02, stall_ms=300)),
        Scene("a page busy for 50 to 150 ms every 2 s", table(MIX, device=BUSY)),
        Scene("bursts of 200 ms over 5 s", table(MIX, bursts=0.08)),
        Scene("a far phone behind a carrier's proxy", tuple(behind), direct=True, at=3),
        Scene("one network", table(WIFI)),
        Scene("one network, busy pages", table(WIFI, device=BUSY)),
        Scene("60 beside 120 Hz, 100 ppm, six players", tuple(hertz)),
        Scene("12 ms between touch and sending", table(MIX, device=Device(lag_ms=12))),
        Scene("15 ms, and the nearest frame", table(MIX, device=Device(lag_ms=15, nearest=True))),
        Scene("the nearest frame", table(MIX, device=Device(nearest=True))),
    ]


CHEATS = {
    "nobody": HONEST,
    "lies by 10 ms": Liar(lie_ms=10),
    "lies by 40 ms": Liar(lie_ms=40),
    "lies by 100 ms": Liar(lie_ms=100),
    "lies by 250 ms": Liar(lie_ms=250),
    "claims the floor": Liar(claim_ms=101),
    "lies about the paint": Liar(paint_ms=60),
    "delays its clock-sync by 200 ms": Liar(sync_delay_ms=200, lie_ms=100),
    "never says that it has no hand": Liar(mute=True, lie_ms=100),
    "pongs + 100 while a slap card is out, claim - 100": Liar(card_pong_delay_ms=100, lie_ms=100),
    "no pongs until the slap is sent, claim - 200": Liar(silent=True, lie_ms=200),
    "no pongs until the slap is sent, claim - 40": Liar(silent=True, lie_ms=40),
    "silent until `any_hand`, claims 140": Liar(silent=True, waits=True, claim_ms=140),
    "slaps at `any_hand`, claim - 40": Liar(waits=True, lie_ms=40),
    "pongs and sync + 200, looks early": Liar(pong_delay_ms=200, sync_delay_ms=200, early=True),
    "no claim, pongs + 200": Liar(no_claim=True, pong_delay_ms=200),
    "pongs + 100 always, claim - 150": Liar(pong_delay_ms=100, lie_ms=150),
}
ALWAYS = ("pongs and sync + 200, looks early", "no claim, pongs + 200", "pongs + 100 always, claim - 150")
"""Those who are a longer line, for all that a server behind a proxy can see."""


def cheats(stalled: float = 0.0) -> list[Scene]:
    """One cheat among three honest people, near and far, and where the kernel sees the phone."""
    scenes: list[Scene] = []
    for at in (0, 3):
        ms = f"{CHEATS_TABLE[at][0]:.0f} ms"
        honest = table(CHEATS_TABLE, human=QUICK, stalled=stalled)
        for name, liar in CHEATS.items():
            scenes.append(Scene(f"{name} @ {ms}", _with(honest, at, liar), at=at))
        pair = _with(honest, at, Liar(silent=True, waits=True, claim_ms=140))
        pair = _with(pair, 1, Liar(silent=True, absent=True))
        scenes.append(Scene(f"a silent accomplice and a silent waiter @ {ms}", pair, at=at))
        spied = list(_with(honest, at, Liar(early=True)))
        spied[at] = replace(spied[at], spy=Network(*CHEATS_TABLE[at]))
        scenes.append(Scene(f"a second socket that watches, pongs + 300 @ {ms}", tuple(spied), at=at))
    honest = table(CHEATS_TABLE, human=QUICK, stalled=stalled)
    scenes += [
        Scene(f"{name} @ 30 ms, seen by the kernel", _with(honest, 0, liar), direct=True)
        for name, liar in CHEATS.items()
        if "pong" in name or "silent" in name
    ]
    return scenes


def _with(players: Sequence[Player], at: int, liar: Liar) -> tuple[Player, ...]:
    return tuple(replace(player, liar=liar) if n == at else player for n, player in enumerate(players))
