"""Designs of the claim check, held against each other on the same traces: `python -m tests.bench.judges`.

A world is played once for each kind of player; what the journal kept of every verdict is then judged again by each
design with lag accounts of its own. The numbers are in docs/decisions/0003-the-judge.md.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

from server.judge import judge
from server.judge.judge import FRAME_US, SLACK_US, Evidence, proved_us
from server.judge.path import Path
from server.judge.standing import CREDIT_CAP_US, CREDIT_REFILL_US
from tests.simulation import report
from tests.simulation.phones import Device
from tests.simulation.scenes import MIX, cheats, table
from tests.simulation.world import Judged, World
from wire.messages import RankedSlap


@dataclass
class Account:
    """Lag credit of one seat, in microseconds."""

    cap_us: int
    refill_us: int
    left_us: int = field(init=False)

    def __post_init__(self) -> None:
        self.left_us = self.cap_us // 2

    def refill(self) -> None:
        """One more slap card was shown."""
        self.left_us = min(self.cap_us, self.left_us + self.refill_us)

    def cover(self, short_us: int) -> int:
        """What is left uncovered of it."""
        covered_us = min(short_us, self.left_us)
        self.left_us -= covered_us
        return short_us - covered_us


Design = Callable[[Evidence, Path, Account], int]
"""From the evidence, the path and the account to the accepted reaction."""


def believed(evidence: Evidence, _path: Path, _account: Account) -> int:
    """Every claim is believed."""
    return evidence.claimed_us or 0


def link_alone(evidence: Evidence, _path: Path, _account: Account) -> int:
    """No claim is: arrival minus half the round trip."""
    return evidence.arrived_us - evidence.shown_us - (evidence.rtt_us or 0) // 2


def quantile_baseline(evidence: Evidence, path: Path, account: Account) -> int:
    """A path up to the 80th percentile of the usual one is believed, and more while the credit lasts."""
    claimed_us = evidence.claimed_us or 0
    usual_us = (path.smooth_us + path.spread_us) // 2 + FRAME_US
    path_us = evidence.arrived_us - evidence.shown_us - claimed_us
    return claimed_us + account.cover(max(0, path_us - usual_us))


def ping_bracket(evidence: Evidence, _path: Path, account: Account) -> int:
    """A claim is believed down to what the last pong before it proves, less slack, and its word about the painting."""
    claimed_us = evidence.claimed_us or 0
    if evidence.rtt_us is None or evidence.answered_us is None:
        return evidence.arrived_us - evidence.shown_us
    late_us = min(max(0, evidence.late_us or 0), FRAME_US)
    least_us = proved_us(evidence.shown_us, evidence.rtt_us, evidence.answered_us) - late_us - SLACK_US
    return claimed_us + account.cover(max(0, least_us - claimed_us))


def expected_bracket(evidence: Evidence, _path: Path, account: Account) -> int:
    """The judge's own: a claim quicker than the pongs let expect costs credit."""
    hand: RankedSlap = judge.weigh(_with_credit(evidence, account.left_us))
    account.left_us -= hand.credit_us
    return hand.accepted_us


def _with_credit(evidence: Evidence, credit_us: int) -> Evidence:
    fields = {name: getattr(evidence, name) for name in Evidence.__struct_fields__}
    return Evidence(**(fields | {"credit_us": credit_us}))


DESIGNS: dict[str, tuple[Design, int, int]] = {
    "claims believed": (believed, 0, 0),
    "link alone": (link_alone, 0, 0),
    "quantile baseline + credit 400/10": (quantile_baseline, 400_000, 10_000),
    "ping bracket + slack + credit 100/2.5": (ping_bracket, 100_000, 2_500),
    "expected, by pings and by the way + credit 400/7": (expected_bracket, CREDIT_CAP_US, CREDIT_REFILL_US),
}


def winners(world: World, design: str) -> list[tuple[Judged, int]]:
    """Who would have won each contest under that design."""
    check, cap_us, refill_us = DESIGNS[design]
    accounts = [Account(cap_us, refill_us) for _ in world.players]
    kept = {(entry.verdict.game, entry.verdict.nth): entry.evidence for entry in world.kept}
    found: list[tuple[Judged, int]] = []
    for judged in world.judged:
        for account in accounts:
            account.refill()
        evidence = [e for e in kept[judged.verdict.game, judged.verdict.nth] if not e.cover]
        accepted = {e.seat: check(e, judged.paths[e.seat], accounts[e.seat]) for e in evidence}
        found.append((judged, min(accepted, key=lambda seat: accepted[seat])))
    return found


def main() -> None:
    """Prints one line a design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contests", type=int, default=1500)
    contests = parser.parse_args().contests
    honest = World(table(MIX), 1)
    troubled = World(table(MIX, stalled=0.02, device=Device(busy=0.02)), 2)
    names = [scene.name.partition(" @ ") for scene in cheats()]
    liars = [
        (name, scene.at, World(scene.players, 4, direct=scene.direct))
        for scene, (name, _, where) in zip(cheats(stalled=0.02), names, strict=True)
        if name != "nobody" and "kernel" not in where and "second socket" not in name
    ]
    for world in (honest, troubled, *(world for _, _, world in liars)):
        world.run(contests)
        print(".", end="", flush=True)
    print(f"\n{contests} contests each; points over a fair share for the liars, at 30 ms / 180 ms")
    for design in DESIGNS:
        print(design)
        for name, world in (("honest", honest), ("stalls and jank", troubled)):
            found = winners(world, design)
            hits = sum(seat == report.truly_first(judged) for judged, seat in found)
            print(f"    {name:34} right {report.Share(hits, len(found))}")
        points: dict[str, list[str]] = {}
        for name, at, world in liars:
            seat = next(seat for seat, chair in enumerate(world.room.state.seats.chairs) if chair.conn == at)
            won = sum(winner == seat for _, winner in winners(world, design))
            points.setdefault(name, []).append(f"{100 * won / len(world.judged) - 25:+.1f}")
        for name, each in points.items():
            print(f"    {name:34} {' / '.join(each)}")


if __name__ == "__main__":
    main()
