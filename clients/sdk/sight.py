"""What an attentive person sees in what is shown."""

from engine.game import GameView
from engine.rules import Rules
from wire.messages import Update


def is_slap_card(view: GameView, rules: Rules) -> bool:
    """Whether the card on top may be slapped under these rules, as far as can be seen (R11, R20)."""
    ranks = [card.face[0] for card in reversed(view.landed)]
    return rules.in_force().may_be_slapped(ranks, jacks_only=view.empty is not None)


def shows_afresh(update: Update) -> bool:
    """Whether the top card is shown anew, as after a restart: every hand before is void and may be given again (P9)."""
    return bool(update.view is not None and update.view.landed and update.show_at_us and not update.events)
