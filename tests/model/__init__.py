"""A second opinion on Ferbli: a referee written from the rules text alone, which shares no code with the engine.

``ranking`` compares hands by trying everything, ``table`` holds the facts of a hand and says who gets the money,
``rounds`` and ``cuhhol`` ask one question after the other in the order of the rules text, ``referee`` reads a log line
by line, and ``compare`` holds it against the engine.

``zsiros`` is such a referee of Zsiros, with ``zsiros_header`` and, for random deals, ``zsiros_play``.
``siebner_schuster``, ``rufmariasch`` and ``preferansz`` are courses of questions (``course``) over heads that are alike
(``heads``).
``shedding`` holds what the referees ``esel``, ``pacal`` and ``old_maid`` share.
"""
