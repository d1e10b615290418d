"""``python -m fuzz.kills``."""

import sys

from fuzz.kills.matrix import main

sys.exit(main())
