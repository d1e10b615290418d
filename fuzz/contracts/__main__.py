"""``python -m fuzz.contracts``."""

import sys

from fuzz.contracts.report import main

sys.exit(main())
