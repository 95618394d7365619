"""New codes for tables, as people can say them aloud."""

from server.base.ports import RandomSource
from wire.codes import CODE_LENGTH, CODE_SYMBOLS

RUDE_WORDS = (
    *("FUCK", "FUK", "FCK", "CUNT", "TWAT", "ARSE", "ASS", "CUM", "SEX", "FAG", "DYKE", "SPAZ", "RAPE", "KKK"),
    *("ARSCH", "HURE", "FUT", "NSDAP", "PUTA", "CACA", "TETA", "PUTE", "MERDE", "PEDE", "BATARD"),
)
"""What nobody wants to read out to a family, in the languages of the page, of the letters that a code can have."""

READ_AS = str.maketrans("34578", "EASTB")
"""How digits are read where they stand for letters."""


def new_code(random_source: RandomSource) -> str:
    """Six symbols without look-alikes and without a rude word, every such code as likely as another."""
    while True:
        number = int.from_bytes(random_source.draw())
        symbols = []
        for _ in range(CODE_LENGTH):
            number, symbol = divmod(number, len(CODE_SYMBOLS))
            symbols.append(CODE_SYMBOLS[symbol])
        code = "".join(symbols)
        if not any(word in code.translate(READ_AS) for word in RUDE_WORDS):
            return code
