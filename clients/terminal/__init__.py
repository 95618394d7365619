"""Slapjack in a terminal: `slapjack play`. Space slaps, Enter turns. Needs Textual, the extra `terminal`."""
