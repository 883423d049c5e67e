#!/bin/sh
# pytest with these arguments, for CI. A machine has bad moments and a test may have a race: up to three tests that fail
# beside the others are run once more, alone. One that fails again is red; one that passes is named as UNSTEADY in the
# last lines, and is a defect to mend. Everything else that is wrong (no test, a crash, a fourth failure) is red at once.
python=${VENV:-.venv}/bin/python

"$python" -m pytest --cache-clear "$@"
status=$?
[ $status -eq 1 ] || exit $status

failed=$("$python" - <<'END'
import json, pathlib
print(*json.loads(pathlib.Path(".pytest_cache/v/cache/lastfailed").read_text()), sep="\n")
END
) || exit 1
if [ "$(printf '%s\n' "$failed" | wc -l)" -gt 3 ] || printf '%s\n' "$failed" | grep -qv '::'; then
    exit 1  # too many, or what failed is no test: a file, or the collection of a worker
fi
echo "Once more, alone:"
printf '%s\n' "$failed"
"$python" -m pytest "$@" -n 0 --last-failed --last-failed-no-failures none || exit 1
printf '%s\n' "$failed" | sed 's/^/UNSTEADY /'
