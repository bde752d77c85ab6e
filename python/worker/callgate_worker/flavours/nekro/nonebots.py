"""NoneBot, as far as plugins and bots need it: started, with an adapter that connects to nothing."""

import functools
import sys
from typing import Any

from nekro_agent.core.logger import logger, write_to_host


def start() -> None:
    """Compat(nekro): plugins use nonebot while they are imported, which wants to be started before.
    It is slow to import, so only where somebody names it."""
    if getattr(sys.modules.get("nonebot"), "_driver", None) is not None:
        return
    # It greets at length.
    logger.remove()
    try:
        import nonebot

        nonebot.init(driver="~none")
    except ImportError:
        pass
    finally:
        write_to_host()


@functools.cache
def adapter() -> Any:
    start()
    import nonebot
    from nonebot.adapters import Adapter as Base
    from nonebot.adapters.onebot.v11 import Adapter

    class HostAdapter(Adapter):
        """There is only the host."""

        def __init__(self, driver: Any) -> None:
            Base.__init__(self, driver)

    return HostAdapter(nonebot.get_driver())
