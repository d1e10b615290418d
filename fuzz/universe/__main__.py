"""``python -m fuzz.universe``."""

import sys

from fuzz.universe.exhaustive import main

sys.exit(main())
