import random

from ._errors import YardmasterError

_FIRST = 0.1
_MOST = 5.0


class Backoff:
    """Chooses the wait before the next try of a call: from 0.1 s, doubling up to 5 s, with half of it random."""

    def __init__(self) -> None:
        self.failures = 0

    def next(self, error: BaseException) -> float:
        """Return the wait after a failure, in seconds. It is never shorter than the Retry-After of the service."""
        ceiling = min(_FIRST * 2 ** min(self.failures, 10), _MOST)
        self.failures += 1
        wait = ceiling / 2 * (1 + random.random())
        after = error.retry_after if isinstance(error, YardmasterError) else 0
        return after * (1 + random.random() / 10) if after > wait else wait
