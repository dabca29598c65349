"""Hierarchies: what each value becomes, level by level, when a table is generalised.

A file has one row per value and semicolons between levels, as ARX writes it: ``Bachelors;Undergraduate;Higher
education;*``. Level 0 is the value itself; ``*`` says nothing. A value has one row, which may be repeated as it is, as
in some of ARX's own files; all rows have the same length, and
two values that share a label share every label above it: otherwise rows could be alike on one level and told apart on
the next. A value of the data that the file does not list is an error, never a guess.

:mod:`~noren.data.hierarchies.builders` makes them of a column's values; :func:`interval_hierarchy`,
:func:`mask_hierarchy` and :func:`date_hierarchy` of numbers, codes and days that somebody gives.
"""

from noren.data.hierarchies.codes import mask_hierarchy as mask_hierarchy
from noren.data.hierarchies.levels import SAYS_NOTHING as SAYS_NOTHING
from noren.data.hierarchies.levels import Hierarchy as Hierarchy
from noren.data.hierarchies.levels import hierarchy_file_name as hierarchy_file_name
from noren.data.hierarchies.levels import read_hierarchies as read_hierarchies
from noren.data.hierarchies.levels import read_hierarchy as read_hierarchy
from noren.data.hierarchies.levels import write_hierarchy as write_hierarchy
from noren.data.hierarchies.numbers import date_hierarchy as date_hierarchy
from noren.data.hierarchies.numbers import interval_hierarchy as interval_hierarchy
