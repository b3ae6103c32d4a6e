"""Import every module that openapi-python-client generated, and use some of them."""

import importlib
import json
import pkgutil
import sys

import yardmaster_client

for module in pkgutil.walk_packages(yardmaster_client.__path__, "yardmaster_client."):
    importlib.import_module(module.name)

from yardmaster_client import AuthenticatedClient  # noqa: E402
from yardmaster_client.api.jobs import create_job  # noqa: E402
from yardmaster_client.api.logs import append_logs  # noqa: E402
from yardmaster_client.models import (  # noqa: E402
    Claimed,
    ClaimedJob,
    CreateJob,
    Error,
    Failure,
    Job,
    LogEntryFields,
    NotClaimed,
)

with open(sys.argv[1]) as file:
    document = json.load(file)


def same(model, value):
    """Check that a value survives decoding and encoding."""
    assert model.from_dict(value).to_dict() == value, (model, value, model.from_dict(value).to_dict())


def examples(part):
    """Return the example values of a body."""
    return [example["value"] for example in part["content"]["application/json"]["examples"].values()]


create = document["paths"]["/api/v1/spaces/{spaceId}/jobs"]["post"]
claim = document["paths"]["/api/v1/jobs/{jobId}/claim"]["post"]
poll = document["paths"]["/api/v1/spaces/{spaceId}/jobs/poll"]["post"]
for value in examples(create["requestBody"]):
    for one in value if isinstance(value, list) else [value]:
        same(CreateJob, one)
same(CreateJob, {"name": "resize", "payload": {"any": {"field": [1, None]}}, "callbackUrl": None})
same(Failure, {"error": "disk full"})
same(Failure, {"error": {"code": 28}})
for response in document["components"]["responses"].values():
    for value in examples(response):
        same(Error, value)

read = {True: Claimed, False: NotClaimed}
for value in examples(claim["responses"]["200"]):
    assert read[value["claimed"]].from_dict(value).claimed is value["claimed"]

job = Job.from_dict(examples(create["responses"]["201"])[0])
assert job.created_at.year == 2026 and job.completed_at is None
assert job.payload["image"] == "cat.png"
for polled in examples(poll["responses"]["200"]):
    for value in polled["jobs"]:
        assert ClaimedJob.from_dict(value).payload["image"] == "cat.png"

entries = ["decoding", LogEntryFields.from_dict({"message": "x", "metadata": {"file": "cat.png"}})]
sent = append_logs._get_kwargs("id", body=entries)["json"]
assert sent == ["decoding", {"message": "x", "metadata": {"file": "cat.png"}}], sent
assert create_job._get_kwargs("demo", body=CreateJob(name="resize"))["json"] == {"name": "resize"}
AuthenticatedClient("http://127.0.0.1:8080", "key", prefix="", auth_header_name="x-api-key")
