"""Pure rules engine: given a set-up and a log of actions it says what happened and which money moved.

No clock, no float, no input or output (``__main__`` aside) and no global randomness live in this package, so
the same set-up and log give the same hand, event for event, anywhere.
"""
