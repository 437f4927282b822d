"""A job for the tests of the guard: each trial does what the block says of it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from domain_alignment.utils._memory import check_room
from threadpoolctl import threadpool_info


def setup(block):
    if "setup" in block:
        raise RuntimeError(block["setup"])
    return block["trials"]


def run_trial(state, trial):
    kind = state[trial]
    if kind == "raise":
        raise ValueError("bad trial")
    if kind == "hang":
        time.sleep(60)
    if kind == "say who":
        Path(state[-1]).write_text(str(os.getpid()))
        time.sleep(60)
    if kind == "eat":
        hoard = []
        while True:
            hoard.append(np.ones(2**20))  # 8 MiB, touched
    if kind == "eat in a child":
        eat = "x = []\nwhile True: x.append(bytearray(b'1') * 2**23)"
        subprocess.run([sys.executable, "-c", eat])
    if kind == "borrow":
        borrowed = np.ones(25 * 2**20)  # 200 MiB, touched
        time.sleep(0.5)  # for as long as it takes to be seen
        del borrowed  # an array of this size goes back to the system
    if kind == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "exit":
        os._exit(3)
    if kind == "chatter":
        print('{"event": "done", "trial": 99}')
    if kind == "count threads":
        A = np.ones((500, 500))
        A @ A  # BLAS has started what it was allowed to
        pools = [one for one in threadpool_info() if one["user_api"] == "blas"]
        import numba  # here, as a method does

        blas = sorted({one["num_threads"] for one in pools})
        return [{"blas": blas, "numba": numba.get_num_threads()}], {}
    if kind == "ask for all pairs":
        check_room(10_000, 10_000, "the kernel matrix")  # 763 MiB
    record = {"status": "ok", "pid": os.getpid(), "warm": "sklearn" in sys.modules}
    return [record], {"square": np.array(trial**2)}
