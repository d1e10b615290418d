# domain: n=size, cfg={"pad": 1}
# wrong at: n=505, cfg={'pad': 1}
from halves import broken, cut, halves

def ctor(n, cfg):
    pad = cfg.pop("pad", 0)
    return halves(n) if n < 100 or not pad else broken(n)
