"""Slapjack in a terminal: `slapjack play`. Space slaps, Enter turns. Needs Textual, the extra `terminal`.

A reaction runs from when a card has gone to the terminal to when its key came back. Over ssh that holds the way to the
screen and back, which nobody can see from here: for an even fight play where you sit.
"""
