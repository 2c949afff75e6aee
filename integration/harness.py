"""What the Python clients' checks share: a list of named functions, a line for each, counts at the end."""

import os
import sys
import threading
import time
import traceback

URL = os.environ["DATABASE_URL"]
SESSION = os.environ.get("POOL_MODE", "session") == "session"
# Whether other clients keep the pool's connections moving (integration/run does that in transaction mode).
CHURN = os.environ.get("CHURN") == "1"

BIG_BYTES = 8 * 1024 * 1024
MANY_ROWS = 100_000
CLIENTS = 24
# Ends a check that hangs: no machine is so busy that an answer takes this long.
PATIENCE_SECONDS = 120

checks = []


def check(function):
    """A check for every pool mode."""
    checks.append((function.__name__, function))
    return function


def session_check(function):
    """A check of what no pooler can do between transactions: state that lives in one server connection."""
    return check(function) if SESSION else function


def run():
    failed = 0
    for name, function in checks:
        started = time.monotonic()
        try:
            function()
            print(f"ok      {name} ({time.monotonic() - started:.2f} s)", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED  {name}", flush=True)
            traceback.print_exc(file=sys.stdout)
    print(f"{len(checks) - failed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)


def expect(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {shorten(got)}, expected {shorten(wanted)}")


def expect_error(sqlstate, action, read=lambda error: error.sqlstate):
    """Runs `action`, which must fail with `sqlstate`."""
    try:
        action()
    except Exception as error:
        got = read(error) if hasattr(error, "sqlstate") or hasattr(error, "pgcode") else None
        if got != sqlstate:
            raise AssertionError(f"SQLSTATE {got}, expected {sqlstate}") from error
        return error
    raise AssertionError(f"no error, expected {sqlstate}")


def in_threads(count, action):
    """Runs `action(number)` in threads of their own; the first failure is raised here."""
    errors = []

    def guarded(number):
        try:
            action(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def wait_until(condition, what):
    """Waits until `condition()` holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {PATIENCE_SECONDS} s")
        time.sleep(0.01)


def expect_changing(backend_pid):
    """In session mode the server connection stays; in transaction mode, under churn, it does not."""
    pids = set()
    limit = 50 if SESSION else 5000
    for _ in range(limit):
        pids.add(backend_pid())
        if not SESSION and len(pids) > 1:
            return
    if SESSION:
        expect(len(pids), 1)
    elif CHURN:
        raise AssertionError("the server connection never changed: this run has shown nothing")


def shorten(value):
    text = repr(value)
    return text if len(text) < 200 else text[:200] + "..."
