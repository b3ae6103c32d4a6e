"""What schemathesis has to know beyond the OpenAPI document."""

import json
import os
import re
import uuid
from datetime import datetime, timedelta

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
    begin_before_the_end(case)
    spare_the_jobs(case)
    fit_the_action(case)
    name_one_subject(case)
    page_in_one_way(case)
    leave_out_or_page(case)
    expire_later(case)
    log_at_a_time(case)
    never_repeat_a_key(case)
    write_whole_tokens(case)
    name_headers_once(case)
    wait_shortly(case)
    never_reject_in_a_list(case)
    never_wait_for_a_list(case)
    run_at_valid_times(case)
    return case


@schemathesis.hook
def before_call(context, case, kwargs):
    """Change examples, and calls with values of an earlier response, which map_case does not get."""
    wait_shortly(case)
    send_its_own_token(case)
    never_wait_for_a_list(case)
    keep_the_path(case)
    spare_the_jobs(case)
    fit_the_action(case)
    name_one_subject(case)


def keep_one_bound(case):
    """`after` together with `before` is refused."""
    bounds = [str((case.query or {}).get(name, "")) for name in ("after", "before")]
    if all(bound.isdecimal() for bound in bounds):
        del case.query["before"]


def operation_of(case):
    """The `operationId` of a call."""
    return case.operation.definition.raw.get("operationId")


def begin_before_the_end(case):
    """A period of a history that is empty, or has too many points, is refused."""
    query = case.query or {}
    given = query.get("from") or query.get("to")
    if operation_of(case) != "getHistory" or not given:
        return
    try:
        begin = datetime.fromisoformat(given)
        query.update({"from": begin.isoformat(), "to": (begin + timedelta(minutes=1)).isoformat()})
    except (TypeError, ValueError, OverflowError):
        pass  # What is no time stays, to be refused.


def spare_the_jobs(case):
    """With delivery tokens required in their space, calls about the jobs would be refused."""
    if operation_of(case) == "changeSpaceSettings" and isinstance(case.body, dict):
        if case.body.get("requireDeliveryToken") is True:
            case.body["requireDeliveryToken"] = False


STATUSES = {
    "requeue": ["dead", "killed"],
    "kill": ["scheduled", "pending", "delivered", "running"],
    "delete": ["completed", "dead", "killed"],
    "reschedule": ["scheduled", "pending"],
}


def fit_the_action(case):
    """An action on jobs in another status, or without its delay, or with one that is not its own, is refused."""
    body = case.body if operation_of(case) == "startOperation" else None
    if not isinstance(body, dict) or body.get("action") not in list(STATUSES):
        return
    possible = STATUSES[body["action"]]
    status = (body["filter"] if isinstance(body.get("filter"), dict) else {}).get("status")
    given = status if isinstance(status, list) else [status]
    if given and all(each in sum(STATUSES.values(), []) for each in given):
        body["filter"]["status"] = [each for each in given if each in possible] or possible[0]
    if body["action"] in ("kill", "delete") and type(body.get("delaySeconds")) in (int, float):
        if 0 <= body["delaySeconds"] <= 31_622_400:
            del body["delaySeconds"]
    if body["action"] == "reschedule" and body.get("delaySeconds") is None:
        body["delaySeconds"] = 1


SUBJECTS = {
    "jobIds": lambda ids: isinstance(ids, list) and 1 <= len(ids) <= 100 and all(
        isinstance(one, str) and re.fullmatch("[0-3][0-9a-f][a-z2-7]{26}", one) for one in ids
    ),
    "tag": lambda tag: isinstance(tag, str) and re.fullmatch("[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,64}", tag),
    "spaceId": lambda space: isinstance(space, str) and re.fullmatch("[A-Za-z0-9._:-]{1,128}", space),
}


def name_one_subject(case):
    """A stream token for two things, or for none, is refused."""
    if operation_of(case) != "createStreamToken" or not isinstance(case.body, dict):
        return
    given = [name for name in SUBJECTS if case.body.get(name) is not None]
    if all(SUBJECTS[name](case.body[name]) for name in given):
        for name in given[1:]:
            del case.body[name]
    if not given:
        case.body["tag"] = "any"


def log_at_a_time(case):
    """Of a time that may be null, schemathesis leaves out the format, and so takes any text for valid."""
    if operation_of(case) != "appendLogs" or not case.meta or case.meta.generation.mode != schemathesis.GenerationMode.POSITIVE:
        return
    logs = case.body.get("logs", case.body) if isinstance(case.body, dict) else case.body
    for entry in logs if isinstance(logs, list) else [logs]:
        if isinstance(entry, dict) and isinstance(entry.get("timestamp"), str):
            if not MOMENT.fullmatch(entry["timestamp"]):
                entry["timestamp"] = None


def run_at_valid_times(case):
    """A schedule with both `cron` and `everySeconds`, or with a text that is no cron expression or time zone, is refused."""
    is_valid = case.meta and case.meta.generation.mode == schemathesis.GenerationMode.POSITIVE
    if operation_of(case) not in ("putSchedule", "putSchedules") or not is_valid or not isinstance(case.body, dict):
        return
    schedules = case.body.get("schedules", [case.body])
    for number, schedule in enumerate(schedules):
        for name, value in {"cron": "@daily", "timezone": "UTC", "startsAt": None, "endsAt": None}.items():
            if name in schedule:
                schedule[name] = value
        schedule["everySeconds"] = None if schedule.get("cron") else 60
        if "id" in schedule:
            schedule.update(id=f"schedule-{number}", owner=None)
        headers = schedule["job"].get("callbackHeaders")
        schedule["job"]["callbackHeaders"] = headers and {name.lower(): value for name, value in headers.items()}


def page_in_one_way(case):
    """Drop an offset that would be refused: with a cursor, an order, or a filter other than one status."""
    query = case.query or {}
    others = [name for name in query if name not in ("status", "limit", "offset")]
    statuses = query.get("status", [])
    if "offset" in query and (others or (isinstance(statuses, list) and len(statuses) > 1)):
        del query["offset"]


def leave_out_or_page(case):
    """A page of the events that `events=0` leaves out is refused."""
    query = case.query or {}
    if operation_of(case) == "getJob" and str(query.get("events")) == "0":
        for name in ("eventsAfter", "eventsLimit"):
            if re.fullmatch(r"[0-9]+", str(query.get(name, ""))):
                del query[name]


def never_repeat_a_key(case):
    """An idempotency key that was sent with another body is refused with 422."""
    for name, value in list((case.headers or {}).items()):
        if name.lower() == "idempotency-key" and re.fullmatch(r"[ -~]{1,255}", str(value)):
            case.headers[name] = str(uuid.uuid4())


# The tokens of the deliveries of jobs, by their ids.
TOKENS = json.loads(os.environ.get("DELIVERY_TOKENS", "{}"))


def write_whole_tokens(case):
    """Schemathesis sends `0` as a valid value of a header, whatever its pattern."""
    for name, value in list((case.headers or {}).items()):
        if name.lower() == "x-delivery-token" and str(value) == "0":
            case.headers[name] = "0.0"


def send_its_own_token(case):
    """A call with the token of another delivery, such as that of the example, is refused."""
    for name, value in list((case.headers or {}).items()):
        if name.lower() == "x-delivery-token" and str(value).startswith("0.0."):
            case.headers[name] = TOKENS.get((case.path_parameters or {}).get("jobId"), value)


def wait_shortly(case):
    """A call that waits would take up to 20 s."""
    for values in (case.query, case.body):
        if not isinstance(values, dict):
            continue
        seconds = values.get("waitSeconds")
        if isinstance(seconds, str) and re.fullmatch(r"\d+(\.\d+)?(e[+-]?\d+)?", seconds):
            values["waitSeconds"] = "0.01"
        elif isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0:
            values["waitSeconds"] = "0.01" if values is case.query else 0.01


def jobs_in(body):
    """The objects of a body, which may be a list of jobs."""
    return [item for item in (body if isinstance(body, list) else [body]) if isinstance(item, dict)]


def name_headers_once(case):
    """Two names of `callbackHeaders` that differ only in upper and lower case are refused."""
    for job in jobs_in(case.body):
        headers = job.get("callbackHeaders")
        seen = set()
        for name in list(headers) if isinstance(headers, dict) else []:
            if name.lower() in seen:
                del headers[name]
            seen.add(name.lower())


def never_reject_in_a_list(case):
    """A list of jobs with `reject` in a unique key is refused."""
    for job in jobs_in(case.body) if isinstance(case.body, list) else []:
        unique = job.get("unique")
        if isinstance(unique, dict) and unique.get("onConflict") == "reject":
            unique["onConflict"] = "return"


def never_wait_for_a_list(case):
    """A list of jobs with `waitSeconds` is refused."""
    if isinstance(case.body, list) and case.query:
        case.query.pop("waitSeconds", None)


def keep_the_path(case):
    """A client takes an empty part of a path away, or one of dots. An outcome may have any text as its `jobId`."""
    for name, value in (case.path_parameters or {}).items():
        if str(value) in ("", ".", ".."):
            case.path_parameters[name] = "unknown"


def expire_later(case):
    """An `expiresAt` in the past is refused. The year 2400 is a leap year, so every day of another year is in it."""
    end = case.body.get("expiresAt") if isinstance(case.body, dict) else None
    moment = MOMENT.fullmatch(end) if isinstance(end, str) else None
    if moment:
        case.body["expiresAt"] = f"2400{moment[1]}"
