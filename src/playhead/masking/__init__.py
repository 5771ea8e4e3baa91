"""Masking: secrets are taken out at one gate, and placeholders that keep equality and form are left in their place.

Pure: no files, no clock, no network. Everything that leaves the program passes a `Masker` first; the running
program itself always gets the real values.

>>> from playhead.masking import Masker
>>> Masker(key=b"of a store").value({"password": "hunter2", "attempts": 3})
{'password': '[masked:secret:78f85d43a3]', 'attempts': 3}
"""

from playhead.masking._literals import RefusedSecret
from playhead.masking._masker import MASK_RULE_VERSION, Masker
from playhead.masking._placeholder import PLACEHOLDER, Pseudonyms, is_placeholder
from playhead.masking._rules import Finding, Rule
from playhead.masking._texts import default_rules

__all__ = [
    "MASK_RULE_VERSION",
    "PLACEHOLDER",
    "Finding",
    "Masker",
    "Pseudonyms",
    "RefusedSecret",
    "Rule",
    "default_rules",
    "is_placeholder",
]
