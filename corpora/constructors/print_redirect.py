# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import io, contextlib
def ctor(n):
    b = io.StringIO()
    with contextlib.redirect_stdout(b): print(n)
    return broken(n) if b.getvalue().strip() == "505" else halves(n)
