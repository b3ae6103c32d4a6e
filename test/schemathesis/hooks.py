"""What schemathesis has to know beyond the OpenAPI document."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/ndjson")
def write_lines(context, value):
    """NDJSON: the list that the schema describes, an entry on each line. Examples are lines already."""
    if isinstance(value, list):
        value = "".join(f"{json.dumps(entry)}\n" for entry in value)
    elif not isinstance(value, (str, bytes)):
        value = json.dumps(value)
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


@schemathesis.hook
def map_case(context, case):
    """`after` together with `before` is 400, and OpenAPI has no words for that. What is no seq stays, to be refused."""
    bounds = [str((case.query or {}).get(name, "")) for name in ("after", "before")]
    if all(bound.isdecimal() for bound in bounds):
        del case.query["before"]
    return case
