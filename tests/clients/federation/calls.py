"""The calls that these tests make of each server: every tool that has simple arguments."""

PYTHON = [
    ("echo", {"message": "größer 🌍"}),
    ("add", {"a": 2, "b": 3.5}),
    ("image", {}),
    ("audio", {}),
    ("link", {}),
    ("slow", {"seconds": 0.3}),
    # The SDK's own client takes events of 1 MiB at most, and the text arrives twice.
    ("big", {"bytes": 400_000}),
    ("fail", {}),
]

TYPESCRIPT = [(name, arguments) for name, arguments in PYTHON if name not in ("image", "audio")] + [("throw", {})]

EVERYTHING = [
    ("echo", {"message": "größer 🌍"}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-env", {}),
    ("get-resource-links", {"count": 4}),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": 2}),
    ("get-resource-reference", {"resourceType": "Blob", "resourceId": 3}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-sum", {"a": 2, "b": 3.5}),
    ("get-tiny-image", {}),
    ("gzip-file-as-resource", {"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}),
    ("trigger-long-running-operation", {"duration": 0.4, "steps": 2}),
    # This one only runs as a task, so it refuses a plain call.
    ("simulate-research-query", {"topic": "tools"}),
    # From now on the server sends notifications at any time.
    ("toggle-simulated-logging", {}),
    ("toggle-subscriber-updates", {}),
]

MEMORY = [
    ("create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}),
    ("create_entities", {"entities": [{"name": "Engine", "entityType": "machine", "observations": []}]}),
    ("create_relations", {"relations": [{"from": "Ada", "to": "Engine", "relationType": "programs"}]}),
    ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["writes"]}]}),
    ("add_observations", {"observations": [{"entityName": "nobody", "contents": ["is not there"]}]}),
    ("search_nodes", {"query": "counts"}),
    ("open_nodes", {"names": ["Engine"]}),
    ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["counts"]}]}),
    ("delete_relations", {"relations": [{"from": "Ada", "to": "Engine", "relationType": "programs"}]}),
    ("delete_entities", {"entityNames": ["Engine"]}),
    ("read_graph", {}),
]

TIME = [
    ("get_current_time", {"timezone": "Europe/Oslo"}),
    ("convert_time", {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"}),
    ("convert_time", {"source_timezone": "Nowhere/Land", "time": "12:30", "target_timezone": "UTC"}),
]

# These results hold a time, an environment or a session.
VOLATILE = {
    "get-env",
    "get-resource-reference",
    "get_current_time",
    "convert_time",
    "toggle-simulated-logging",
    "toggle-subscriber-updates",
}

REMOTE = {
    "everything-streamable": EVERYTHING,
    "everything-sse": EVERYTHING,
    "fastmcp-http": PYTHON,
    "fastmcp-sse": PYTHON,
    "python-http": PYTHON,
    "python-sse": PYTHON,
    "typescript-both-eras": TYPESCRIPT,
    "typescript-modern": TYPESCRIPT,
    "typescript-sessions": TYPESCRIPT,
}
