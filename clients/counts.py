"""Prints how many tests of a Maven run were good and how many bad, for clients/run.

The arguments are Maven's output, where clojure.test's own `N passed, N failed` stands, and JUnit's reports.
"""

import re
import sys
import xml.etree.ElementTree as tree

good = bad = 0
for name in sys.argv[2:]:
    suite = tree.parse(name).getroot().attrib
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
