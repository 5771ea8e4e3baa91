"""Places of recordings: a folder, with files that any tool can copy."""

from playhead.stores._names import file_name
from playhead.stores._places import find_other_stores, find_store
from playhead.stores._stores import LocalStore, MemoryStore, Store
from playhead.stores._summaries import Summary

__all__ = ["LocalStore", "MemoryStore", "Store", "Summary", "file_name", "find_other_stores", "find_store"]
