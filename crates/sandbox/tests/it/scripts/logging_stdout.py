import logging
import sys
import traceback
import warnings

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)-8s %(name)s: %(message)s")
log = logging.getLogger("shop.cart")
log.debug("not shown")
log.info("added %s x%d", "pen", 3)
log.warning("low stock: %r", {"pen": 1})
try:
    {}["missing"]
except KeyError:
    log.error("lookup failed: %s", traceback.format_exc().strip().splitlines()[-1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("old way", DeprecationWarning)
    print([str(w.message) for w in caught], caught[0].category.__name__)
handler = logging.StreamHandler(sys.stdout)
handler.setFormatter(logging.Formatter("[%(lineno)d] %(message)s"))
other = logging.getLogger("other")
other.propagate = False
other.addHandler(handler)
other.error("direct")
