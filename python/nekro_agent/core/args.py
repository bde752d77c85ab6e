"""Flags of Nekro Agent's command line, which do not apply here: all are off."""


class Args:
    LOAD_TEST = False
    WITH_COLORS = False
    DOCS = False
    RELOAD = False
