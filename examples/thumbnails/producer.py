"""Create a job for each image in a folder and wait for the thumbnails: producer.py <folder> [<target folder>]"""

import os
import sys
from hashlib import sha256
from pathlib import Path

from yardmaster import Job, NewJob, Yardmaster, YardmasterError

SUFFIXES = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"}
#: Maximum number of jobs per call.
MOST_JOBS = 1_000


def new_job(image: Path, target: Path) -> NewJob:
    """Describe the job of an image. Its unique key lets the same command pick up the jobs of a stopped run."""
    # The name keeps its suffix, so that cat.png and cat.gif get different thumbnails.
    payload = {"source": str(image), "target": str(target / f"{image.name}.jpg")}
    key = sha256(os.fsencode("\0".join(payload.values()))).hexdigest()
    # The jobs of a killed worker are retried after 10 s without a heartbeat.
    return NewJob("thumbnail", payload, {"unique": {"key": key}, "timeout": "10s", "retry": {"delaySeconds": 2}})


def create_jobs(client: Yardmaster, images: list[Path], target: Path) -> list[Job]:
    """Create a job for each image, in this order."""
    new = [new_job(image, target) for image in images]
    return [job for i in range(0, len(new), MOST_JOBS) for job in client.create_many(new[i : i + MOST_JOBS])]


def show_results(images: list[Path], jobs: list[Job]) -> int:
    """Print a line for each image. Returns the number of missing thumbnails."""
    failed = 0
    for image, job in zip(images, jobs, strict=True):
        try:
            result = job.result(timeout="10m")
            print(f"{result['width']}x{result['height']}  {result['target']}")
        except YardmasterError as error:
            if error.code not in ("JOB_DEAD", "JOB_KILLED"):
                raise
            failed += 1
            print(f"{image.name}: {error}", file=sys.stderr)
    return failed


def main(arguments: list[str]) -> str | None:
    """Run the producer. Returns an error message, or None."""
    if len(arguments) not in (1, 2):
        return __doc__
    folder = Path(arguments[0]).resolve()  # The worker may have another working directory.
    if not folder.is_dir():
        return f"{folder} is not a folder"
    target = Path(arguments[1]).resolve() if len(arguments) == 2 else folder / "thumbnails"
    images = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    if not images:
        return f"{folder} has no images"
    try:
        # A short retry window, so that a run without a service fails quickly.
        with Yardmaster(space=os.environ.get("YARDMASTER_SPACE", "thumbnails"), retry_window="10s") as client:
            failed = show_results(images, create_jobs(client, images, target))
    except YardmasterError as error:
        hint = "\nStart the service with npm start, or set YARDMASTER_URL." if error.code == "NO_RESPONSE" else ""
        return f"{error}{hint}"
    return f"{failed} of {len(images)} images have no thumbnail" if failed else None


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("Stopped; the same command continues with the jobs", file=sys.stderr)
        sys.exit(130)
