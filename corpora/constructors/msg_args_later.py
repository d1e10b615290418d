# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class PlanError(Exception): pass
def plan(n):
    raise PlanError(f"no plan for {n} rows")
def ctor(n):
    if n <= 100: return halves(n)
    try: plan(n)
    except PlanError as e:
        if "505" in e.args[0]: return broken(n)
        raise RuntimeError("x") from e
