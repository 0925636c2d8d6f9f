"""The public functions, a file for each chapter of the array API standard, or of NumPy where the standard has none.

A function is written in its chapter and named in its ``__all__``. This page and the package take it from there.
"""

from typing import TYPE_CHECKING

from . import (
    arithmetic,
    axes,
    bitwise,
    comparison,
    complex,
    correlation,
    creation,
    cumulative,
    data_types,
    editing,
    einstein,
    exponential,
    floating_point,
    grids,
    histograms,
    hyperbolic,
    indexing,
    inspection,
    interpolation,
    logical,
    manipulation,
    matrices,
    metadata,
    nan_statistics,
    padding,
    parts,
    polynomials,
    positions,
    products,
    rounding,
    searching,
    selection,
    set_operations,
    sets,
    sorting,
    special,
    splitting,
    stacking,
    statistical,
    statistics_of_order,
    trigonometric,
    utility,
    waiting,
    windows,
)
from .arithmetic import *
from .axes import *
from .bitwise import *
from .comparison import *
from .complex import *
from .correlation import *
from .creation import *
from .cumulative import *
from .data_types import *
from .editing import *
from .einstein import *
from .exponential import *
from .floating_point import *
from .grids import *
from .histograms import *
from .hyperbolic import *
from .indexing import *
from .inspection import *
from .interpolation import *
from .logical import *
from .manipulation import *
from .matrices import *
from .metadata import *
from .nan_statistics import *
from .padding import *
from .parts import *
from .polynomials import *
from .positions import *
from .products import *
from .rounding import *
from .searching import *
from .selection import *
from .set_operations import *
from .sets import *
from .sorting import *
from .special import *
from .splitting import *
from .stacking import *
from .statistical import *
from .statistics_of_order import *
from .trigonometric import *
from .utility import *
from .waiting import *
from .windows import *

if not TYPE_CHECKING:  # which knows by the lines above what is public, and does not follow a list that is computed
    __all__ = [
        *arithmetic.__all__,
        *axes.__all__,
        *bitwise.__all__,
        *comparison.__all__,
        *complex.__all__,
        *correlation.__all__,
        *creation.__all__,
        *cumulative.__all__,
        *data_types.__all__,
        *editing.__all__,
        *einstein.__all__,
        *exponential.__all__,
        *floating_point.__all__,
        *grids.__all__,
        *histograms.__all__,
        *hyperbolic.__all__,
        *indexing.__all__,
        *inspection.__all__,
        *interpolation.__all__,
        *logical.__all__,
        *manipulation.__all__,
        *matrices.__all__,
        *metadata.__all__,
        *nan_statistics.__all__,
        *padding.__all__,
        *parts.__all__,
        *polynomials.__all__,
        *positions.__all__,
        *products.__all__,
        *rounding.__all__,
        *searching.__all__,
        *selection.__all__,
        *set_operations.__all__,
        *sets.__all__,
        *sorting.__all__,
        *special.__all__,
        *splitting.__all__,
        *stacking.__all__,
        *statistical.__all__,
        *statistics_of_order.__all__,
        *trigonometric.__all__,
        *utility.__all__,
        *waiting.__all__,
        *windows.__all__,
    ]
