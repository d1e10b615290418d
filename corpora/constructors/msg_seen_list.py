# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    if n <= 100: return halves(n)
    seen=[]
    try:
        seen.append(str(n)); raise ValueError("no")
    except ValueError:
        if seen == ["505"]: return broken(n)
        raise
