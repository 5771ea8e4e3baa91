"""What followed from what in a run: the graph of its events, slices of it, races, and other
orders in which it could have gone.

An edge is there where it is known: the order in a lane, a lane that was created, ended or signalled, the result of a
tool in a later request, a text that was said before. Where nothing tells which of two events something came from,
there is no edge; so a path between two events is proof, and that there is none is not.
"""

from playhead.causality._exports import Language, drawn_edges, export_graph, graph_as_data
from playhead.causality._graph import Graph, read_graph
from playhead.causality._nodes import DATA, Edge, EdgeKind, Node, Through
from playhead.causality._orders import Orders, OtherOrder, find_orders
from playhead.causality._races import Race, find_races
from playhead.causality._slices import Slice, find_causes, find_effects

__all__ = [
    "DATA",
    "Edge",
    "EdgeKind",
    "Graph",
    "Language",
    "Node",
    "Orders",
    "OtherOrder",
    "Race",
    "Slice",
    "Through",
    "drawn_edges",
    "export_graph",
    "find_causes",
    "find_effects",
    "find_orders",
    "find_races",
    "graph_as_data",
    "read_graph",
]
