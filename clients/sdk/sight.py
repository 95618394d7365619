"""What an attentive person sees in what is shown."""

from engine.game import GameView
from engine.rules import GameName, Rules
from wire.messages import Update


def is_slap_card(view: GameView, rules: Rules) -> bool:
    """Whether the card on top may be slapped under these rules, as far as can be seen (R11, R20)."""
    rules = rules.in_force()
    ranks = [card.face[0] for card in reversed(view.landed)]
    if not ranks or rules.game is GameName.WAR:
        return False
    if ranks[0] == "J" or view.empty is not None:
        return ranks[0] == "J"
    return (
        ranks[0] in rules.slap_ranks()
        or (rules.doubles and ranks[0] in ranks[1:2])
        or (rules.sandwiches and ranks[0] in ranks[2:3])
    )


def shows_afresh(update: Update) -> bool:
    """Whether the top card is shown anew, as after a restart: every hand before is void and may be given again (P9)."""
    return bool(update.view is not None and update.view.landed and update.show_at_us and not update.events)
