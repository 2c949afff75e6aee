"""Prints how many tests of a Maven run were good and how many bad, for clients/run.

The arguments are Maven's output, where clojure.test's own `N passed, N failed` stands, and folders of JUnit's reports.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as tree

good = bad = 0
for folder in sys.argv[2:]:
    # A run of the Clojure client alone leaves none.
    for report in pathlib.Path(folder).glob("TEST-*.xml"):
        suite = tree.parse(report).getroot().attrib
        # A test that is skipped has not held: with servers there is no reason to skip any.
        wrong = int(suite["failures"]) + int(suite["errors"]) + int(suite["skipped"])
        good += int(suite["tests"]) - wrong
        bad += wrong
print(f"JUnit: {good} good, {bad} bad", file=sys.stderr)
with open(sys.argv[1], errors="replace") as output:
    for line in output:
        found = re.match(r"^(\d+) passed, (\d+) failed$", line)
        if found:
            good += int(found[1])
            bad += int(found[2])
print(good, bad)
