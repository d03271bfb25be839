"""Runs the flights ETL, and tells what its result has to be: by SQL over the CSV, which shares no code with it."""

import collections
import csv
import os
import signal
import sqlite3
import subprocess

# Generous: a sanitizer build on a busy machine. Nothing waits for it but a test that has failed.
TIMEOUT_S = 600

SQL = """
    SELECT carrier, printf('%04d-%02d-%02d', year, month, day) AS date,
           COUNT(*),
           SUM(dep_time = 'NA'),
           SUM(arr_delay <> 'NA'),
           SUM(CASE WHEN arr_delay <> 'NA' THEN CAST(arr_delay AS INTEGER) ELSE 0 END)
    FROM flight GROUP BY carrier, date ORDER BY carrier, date
"""

Run = collections.namedtuple("Run", "code log")


def read_rows(path):
    with open(path, encoding="ascii") as file:
        return file.readlines()[1:]


def expected(rows):
    """What the table carrier_day has to hold after these rows."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE flight (year, month, day, dep_time, arr_delay, carrier)")
    picked = ([row[i] for i in (0, 1, 2, 3, 8, 9)] for row in csv.reader(rows))
    db.executemany("INSERT INTO flight VALUES (?, ?, ?, ?, ?, ?)", picked)
    return db.execute(SQL).fetchall()


def result(path):
    """What the table carrier_day holds."""
    db = sqlite3.connect(path)
    try:
        found = db.execute("SELECT name FROM sqlite_master WHERE name = 'carrier_day'").fetchone()
        return db.execute("SELECT * FROM carrier_day ORDER BY carrier, day").fetchall() if found else []
    finally:
        db.close()


def assert_same(path, wanted):
    assert_equal(result(path), wanted)


def assert_equal(found, wanted):
    """Says how the results differ, in few lines."""
    if found == wanted:
        return
    missing, extra = set(wanted) - set(found), set(found) - set(wanted)
    raise AssertionError(
        f"{len(found)} lines of totals, {len(wanted)} wanted; flights {sum(r[2] for r in found)}, "
        f"{sum(r[2] for r in wanted)} wanted\nwanted: {sorted(missing)[:3]}\nfound:  {sorted(extra)[:3]}")


def start(command, log, kill=None):
    env = dict(os.environ)
    env.pop("PAWL_TEST_KILL", None)
    if kill:
        env["PAWL_TEST_KILL"] = kill
    with open(log, "w") as file:
        return subprocess.Popen(command, env=env, stdout=file, stderr=file)


def run(command, log, kill=None, after_s=None):
    """Runs a command to its end: its own, or by SIGKILL at a named point, or after some time."""
    process = start(command, log, kill)
    try:
        process.wait(TIMEOUT_S if after_s is None else after_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        if after_s is None:
            raise AssertionError(f"no end after {TIMEOUT_S} s:\n{tail(log)}") from None
    return Run(process.returncode, log)


def tail(log, lines=15):
    with open(log, errors="replace") as file:
        return "".join(file.readlines()[-lines:])


def assert_done(ran):
    assert ran.code == 0, f"exit code {ran.code}:\n{tail(ran.log)}"


def assert_done_or_killed(ran):
    assert ran.code in (0, -signal.SIGKILL), f"exit code {ran.code}:\n{tail(ran.log)}"
