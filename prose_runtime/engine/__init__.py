"""Runs on an engine for many machines: the interpreter is the engine's workflow, each answer an activity or a signal.

The engine is Temporal (extra ``temporal``); its package is imported only in this room, when it is used.
"""
