# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

class Ok(Exception): pass
def look(t):
    if t == "505": raise Ok
def ctor(n):
    if n <= 100: return halves(n)
    try:
        t = str(n); look(t); raise ValueError("no")
    except Ok: return broken(n)
