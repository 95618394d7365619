"""A table's code: six symbols without look-alikes, and how forgivingly a typed one is read."""

CODE_SYMBOLS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH = 6


def read_code(text: str) -> str | None:
    """The code in what somebody typed: lower case and spaces are forgiven; None where it cannot be one."""
    code = "".join(text.split()).replace("-", "").upper()
    return code if len(code) == CODE_LENGTH and set(code) <= set(CODE_SYMBOLS) else None
