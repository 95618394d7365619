"""Computer players on the Python client, and what makes one of a file: `slapjack bot`, `slapjack bots` (docs/bots.md).

They sit at a table as people do, by its code, and see what people see.
"""

from clients.bots.files import BadBot, Play, find_bot
from clients.bots.mind import POLICIES, Mind, Policy
from clients.bots.seat import play

__all__ = ["POLICIES", "BadBot", "Mind", "Play", "Policy", "find_bot", "play"]
