#!/bin/sh
# Start a worker, run the producer, and stop the worker: run.sh <folder> [<target folder>]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

if [ -z "${YARDMASTER_API_KEY:-}" ]; then
  data=$(cd "$root" && cd "${DATA_DIR:-.data}" 2>/dev/null && pwd) || data=
  if [ ! -r "$data/admin-key" ]; then
    echo 'There is no API key: start the service with npm start, or set YARDMASTER_API_KEY' >&2
    exit 2
  fi
  YARDMASTER_API_KEY=$(cat "$data/admin-key")
  export YARDMASTER_API_KEY
fi

# Without YARDMASTER_PYTHON, which must have Pillow and httpx, the first run installs them.
python=${YARDMASTER_PYTHON:-$root/.cache/thumbnails/bin/python}
if [ -z "${YARDMASTER_PYTHON:-}" ] && ! "$python" -c 'import PIL, httpx' 2>/dev/null; then
  python3 -m venv "$root/.cache/thumbnails"
  "$python" -m pip install --quiet --disable-pip-version-check Pillow httpx
fi
export PYTHONPATH="$root/sdk/python/src"
"$python" -c 'import PIL, httpx' # Without them, the producer would wait for a worker that can't start.

"$python" "$here/worker.py" &
worker=$!
trap 'kill "$worker" 2>/dev/null; wait "$worker" 2>/dev/null || :' EXIT
trap 'exit 130' INT TERM
"$python" "$here/producer.py" "$@"
