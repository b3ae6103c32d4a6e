import random

from ._errors import YardmasterError

_FIRST = 0.1
_MOST = 5.0


class Backoff:
    """Chooses how long to wait before a call is sent again: 0.1 s, doubled up to 5 s, of which half is random."""

    def __init__(self) -> None:
        self.failures = 0

    def next(self, error: BaseException) -> float:
        """Return the wait after a failure in seconds. The Retry-After of the service is never cut short."""
        ceiling = min(_FIRST * 2 ** min(self.failures, 10), _MOST)
        self.failures += 1
        wait = ceiling / 2 * (1 + random.random())
        after = error.retry_after if isinstance(error, YardmasterError) else 0
        return after * (1 + random.random() / 10) if after > wait else wait
