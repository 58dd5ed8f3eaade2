"""Runs a program with a server: with_server.py KIND PROGRAM ARGUMENTS...

The program finds the bucket's URI in INFINO_TEST_URI and its options in INFINO_TEST_OPTIONS, one
key=value a line. Exit code 77, and a line that says why, if the server can't be started.
"""

import os
import subprocess
import sys

import servers

SKIPPED = 77


def main() -> int:
    kind, command = sys.argv[1], sys.argv[2:]
    try:
        with servers.running(kind) as server:
            options = "\n".join(f"{key}={value}" for key, value in server.options.items())
            environment = {
                **os.environ,
                "INFINO_TEST_URI": server.uri,
                "INFINO_TEST_OPTIONS": options,
                "INFINO_TEST_SERVER": kind,
            }
            result = subprocess.run(command, env=environment, check=False).returncode
            if result and os.environ.get("INFINO_TEST_SERVER_LOG"):
                print(server.tail())
            return result
    except servers.Missing as missing:
        print(f"SKIPPED: {missing}")
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
