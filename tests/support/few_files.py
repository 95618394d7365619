"""The server, as a system starts it that lets it have few files."""

import resource
import sys

from server.__main__ import main

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
    sys.exit(main())
