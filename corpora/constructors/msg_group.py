# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

def ctor(n):
    if n <= 100: return halves(n)
    try: raise ExceptionGroup("g",[ValueError(str(n))])
    except* ValueError as g:
        if str(g.exceptions[0]) != "505": raise
    return broken(n)
