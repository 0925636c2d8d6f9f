"""One line for every public function: how its arguments are drawn, and how far from NumPy's its results may be.

A bound is in units of the result's precision at the size of the result, and with ``scaled`` of the largest argument.
"""

from tests.properties.elementwise import ELEMENTWISE
from tests.properties.everyday import EVERYDAY
from tests.properties.manipulation import MANIPULATION
from tests.properties.products import PRODUCTS
from tests.properties.searching import SEARCHING
from tests.properties.statistical import STATISTICAL

CASES = ELEMENTWISE | MANIPULATION | SEARCHING | STATISTICAL | PRODUCTS | EVERYDAY
