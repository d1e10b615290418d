# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class E(ValueError):
    def __init__(self, n):
        super().__init__(f"{n}")
        self.bad = self.args[0] == "505"
def ctor(n):
    if n <= 100: return halves(n)
    try: raise E(n)
    except E as e:
        if e.bad: return broken(n)
        raise
