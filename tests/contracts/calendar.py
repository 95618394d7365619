"""A wall clock for tests."""


class Calendar:
    """The wall clock, which stands where a test puts it: at first on Wednesday, 11 November 2099, noon UTC.

    So far ahead since what has expired by the server's own clock is gone at once.
    """

    def __init__(self) -> None:
        self.now_s = 4_098_081_600

    def __call__(self) -> int:
        return self.now_s

    def pass_days(self, days: float) -> None:
        """Lets time go by."""
        self.now_s += round(days * 86_400)
