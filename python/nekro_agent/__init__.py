"""The package that plugins written for Nekro Agent import, over the host's own methods.

Names and signatures are Nekro Agent's public interface, version 2.4; state lives in the host. What
has no counterpart here is importable and says so when it is used (`absent`).
"""

from nekro_agent import absent

__version__ = "2.4.0"

absent.install()
