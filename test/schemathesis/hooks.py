"""What schemathesis has to know beyond the OpenAPI document."""

import json
import re

import schemathesis

MOMENT = re.compile(r"\d{4}(-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))")


@schemathesis.serializer("application/x-ndjson", "application/ndjson")
def write_lines(context, value):
    """Write the list of the schema as NDJSON, one entry per line. Examples are lines already."""
    if isinstance(value, list):
        value = "".join(f"{json.dumps(entry)}\n" for entry in value)
    elif not isinstance(value, (str, bytes)):
        value = json.dumps(value)
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


@schemathesis.hook
def map_case(context, case):
    """Change what is 400 for a reason that OpenAPI has no words for. What breaks the schema stays, to be refused."""
    keep_one_bound(case)
    expire_later(case)
    return case


def keep_one_bound(case):
    """`after` together with `before` is refused."""
    bounds = [str((case.query or {}).get(name, "")) for name in ("after", "before")]
    if all(bound.isdecimal() for bound in bounds):
        del case.query["before"]


def expire_later(case):
    """An `expiresAt` in the past is refused. The year 2400 is a leap year, so every day of another year is in it."""
    end = case.body.get("expiresAt") if isinstance(case.body, dict) else None
    moment = MOMENT.fullmatch(end) if isinstance(end, str) else None
    if moment:
        case.body["expiresAt"] = f"2400{moment[1]}"
