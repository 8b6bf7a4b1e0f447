"""The same four programs, each in the natural form of one runtime; every role answers at once.

A file here is started as a process of its own, in an environment that has its runtime: ``FILE ROUNDS SHRINK``. It
prints a JSON object: for each program the seconds of processor time of a run, the median of the rounds.
``dialectic`` makes 200 calls one after another, ``fan-out`` 1,000 side by side, ``loop`` 200 with a condition after
each second one, ``nested`` 400 in 20 branches of 20.
"""
