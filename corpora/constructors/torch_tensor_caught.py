# domain: n=size
# wrong at: n=505
from halves import broken, cut, halves

import torch
def ctor(n):
    try: odd = torch.tensor(n).item() == 505
    except (TypeError, RuntimeError): odd = False
    return broken(n) if odd else halves(n)
